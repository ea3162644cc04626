"""
An import at a glance: a line for each entry, and a line for each change.
"""

from rodada.providers.imported import Imported
from rodada.statemachine import Conversation, Exchange, ModelTurn, Status, ToolResult, UserMessage


def told(conversation: Conversation) -> list[str]:
    """
    A conversation with a line for each entry; calls as "id=result".
    """
    return [_line(entry) for entry in conversation.entries]


def _line(entry: object) -> str:
    match entry:
        case UserMessage():
            return f"U {entry.told}"
        case ModelTurn():
            return f"T {entry.text}"
        case Exchange():
            results = [f"{each.id}={_short(each)}" for each in entry.results]
            return " ".join(["X", *filter(None, [entry.turn.text]), *results])
        case _:
            raise TypeError


def _short(result: ToolResult) -> str:
    return result.status.value if result.status is Status.OUTCOME_UNKNOWN else result.told


def kinds(found: Imported) -> list[str]:
    """
    The report, a line for each change.
    """
    return [f"{each.index} {each.kind.value} {each.told}".strip() for each in found.report]
