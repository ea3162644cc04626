"""
What an import of stored messages gives: a conversation, and a report of everything that is not as it was stored.
"""

import enum
from collections.abc import Mapping

from attrs import field, frozen

from rodada.statemachine.conversation import Conversation

LONGEST_TOLD = 80


class ChangeKind(enum.Enum):
    """
    What was found in stored messages that could not stay as it was.
    """

    OPEN_CALL = "open_call"
    ORPHAN_RESULT = "orphan_result"
    DOUBLED_RESULT = "doubled_result"
    MOVED_RESULT = "moved_result"
    PAIRED_RESULT = "paired_result"
    NEW_ID = "new_id"
    JOINED_TURNS = "joined_turns"
    UNASKED_TURN = "unasked_turn"
    SYSTEM_TEXT = "system_text"
    BLANK = "blank"
    UNKNOWN_PART = "unknown_part"
    UNBOUND_PART = "unbound_part"
    UNKNOWN_FIELDS = "unknown_fields"
    TOLD_IN_WORDS = "told_in_words"
    MENDED_TEXT = "mended_text"
    UNREADABLE_ARGUMENTS = "unreadable_arguments"


DONE: Mapping[ChangeKind, str] = {
    ChangeKind.OPEN_CALL: "no result of this call is stored: it was given one that says so, as outcome unknown",
    ChangeKind.ORPHAN_RESULT: "this result answers no call: left out",
    ChangeKind.DOUBLED_RESULT: "the call has a result already: left out",
    ChangeKind.MOVED_RESULT: "the result did not stand in its place behind its turn: moved there",
    ChangeKind.PAIRED_RESULT: "the result names no call: given to the only one that it can answer",
    ChangeKind.NEW_ID: "the id of this call is missing, used before or not usable: the call was given one of its own",
    ChangeKind.JOINED_TURNS: "nothing stands between this turn of the model and the one before: joined with that",
    ChangeKind.UNASKED_TURN: "the model speaks before any person did: left out, with the results of its calls",
    ChangeKind.SYSTEM_TEXT: "instructions are no part of a conversation: left out, give them to the loop",
    ChangeKind.BLANK: "it says nothing and asks for nothing: left out",
    ChangeKind.UNKNOWN_PART: "the wire takes no such part here: left out",
    ChangeKind.UNBOUND_PART: "another part of its turn was left out, without which the wire refuses this one: left out",
    ChangeKind.UNKNOWN_FIELDS: "the wire takes no such fields here, or a conversation has no place for them: left out",
    ChangeKind.TOLD_IN_WORDS: "the content is elsewhere, or of a kind of its own: told to the model as JSON",
    ChangeKind.MENDED_TEXT: "lone surrogates, which no wire can carry, were replaced",
    ChangeKind.UNREADABLE_ARGUMENTS: "the arguments are no JSON object: kept in the call, and sent as an empty one",
}


@frozen
class Change:
    """
    One thing in stored messages that is not in the conversation as it was stored.

    Attributes:
        kind: what was found.
        index: of the message.
        path: of the thing, from the list of messages on: "[3].content[1]".
        told: which one, where it has a name: the id of a call, a type, names of fields; bounded.
        content: what was left out or replaced, so that nothing is lost: a text, or JSON; "" where nothing was. It is
            not shown, for it may hold what people said.
    """

    kind: ChangeKind
    index: int
    path: str
    told: str = ""
    content: str = field(default="", repr=False)

    @property
    def done(self) -> str:
        """
        What was found and what was done, as a sentence.
        """
        return DONE[self.kind]

    def __str__(self) -> str:
        told = f" ({self.told})" if self.told else ""
        return f"{self.path}{told}: {self.done}"


@frozen
class Imported:
    """
    Stored messages as a conversation.

    Attributes:
        conversation: valid on every wire, under a new id.
        report: every change, in the order of the messages; empty when all is as it was stored.
    """

    conversation: Conversation
    report: tuple[Change, ...]

    @property
    def instructions(self) -> str:
        """
        The system and developer messages that were left out, for `ToolLoop(instructions=...)`.
        """
        return "\n\n".join(each.content for each in self.report if each.kind is ChangeKind.SYSTEM_TEXT)
