"""
The promises, checked on what the server received, on the outcomes and on what the tools left behind.

Each check gives the first place where its promise is broken, or "". Nothing here trusts the loop: ids, order and
texts are read from the requests as they came over the wire.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from rodada.cli.demo.scene import Answered, Judged, Played, Promise
from rodada.cli.demo.seen import Answers, Asked, Item, Said, Seen
from rodada.statemachine import ENGLISH, CallRecord, Reason, Status


def judged(played: Played) -> tuple[Judged, ...]:
    """
    Every promise of a played scene, judged.
    """
    return tuple(Judged(promise, promise.fault(played)) for promise in (*EVERYWHERE, *played.scene.promises))


# Every scene


def _accepted(played: Played) -> str:
    for answered in played.answered:
        refusal = next((each.refusal for each in answered.received if each.refusal is not None), None)
        if refusal is not None:
            return f"the server refused a request: {refusal.message}"
        if answered.unplayed:
            return f"{answered.unplayed} turns of the script were never asked for"
    return ""


def _paired(played: Played) -> str:
    return next((fault for at, seen in _numbered(played) for fault in _unpaired(at, seen.items)), "")


def _unpaired(at: int, items: tuple[Item, ...]) -> Iterator[str]:
    nothing = Said("", "")
    for item, after in pairwise((nothing, *items, nothing)):
        asked = item.ids if isinstance(item, Asked) else ()
        told = tuple(result.id for result in after.results) if isinstance(after, Answers) else ()
        if asked != told:
            yield f"request {at}: the calls {list(asked)} are followed by the results {list(told)}"
    ids = [call for item in items if isinstance(item, Asked) for call in item.ids]
    if len({*ids}) != len(ids):
        yield f"request {at}: an id stands on two calls: {ids}"


def _grows(played: Played) -> str:
    for answered in played.answered:
        for before, after in pairwise(answered.seen):
            if after.history[: len(before.history)] != before.history:
                return f"a request of {len(after.history)} items does not begin with the one before it"
            if after.bound != before.bound:
                return "what thinking and cache are bound to changed between two requests"
    return ""


def _ended(played: Played) -> str:
    return next((fault for answered in played.answered if (fault := _ended_otherwise(answered))), "")


def _ended_otherwise(answered: Answered) -> str:
    message, outcome = answered.message, answered.outcome
    wanted = message.script[-1].text if message.answer is None else message.answer
    found = (outcome.status, outcome.reason)
    if found != message.ends:
        return f"it ended as {_words(*found)}, not as {_words(*message.ends)}"
    return "" if outcome.answer == wanted else f"the answer is {outcome.answer!r}, not {wanted!r}"


def _words(status: object, reason: object) -> str:
    return " ".join(str(getattr(each, "value", each)) for each in (status, reason) if each is not None)


def _counted(played: Played) -> str:
    for answered in played.answered:
        outcome, message = answered.outcome, answered.message
        if outcome.rounds != message.rounds or outcome.rounds > message.limits.max_rounds:
            return f"{outcome.rounds} rounds, not {message.rounds}"
        if not outcome.model_calls == len(answered.seen) == len(message.script):
            return f"{outcome.model_calls} model calls told, {len(answered.seen)} received, {len(message.script)} due"
    return ""


def _told_truly(played: Played) -> str:
    for answered in played.answered:
        found = tuple((call.name, call.status) for call in answered.outcome.calls)
        if found != answered.message.calls:
            return f"the calls are {_calls(found)}, not {_calls(answered.message.calls)}"
    return next((fault for call in _all_calls(played) for fault in _told_otherwise(call, played)), "")


def _told_otherwise(call: CallRecord, played: Played) -> Iterator[str]:
    told = [(answer.text, answer.failed) for seen in played.seen for answer in seen.answers if answer.id == call.id]
    if not told:
        yield f"the model was never told what became of {call.name} ({call.id})"
    if any(each != (call.text, call.status is not Status.SUCCEEDED) for each in told):
        yield f"{call.name} ({call.id}) is {call.status.value}, and the model was told something else"


def _calls(calls: tuple[tuple[str, Status], ...]) -> str:
    return ", ".join(f"{name} {status.value}" for name, status in calls) or "none"


def _all_calls(played: Played) -> tuple[CallRecord, ...]:
    return tuple(call for answered in played.answered for call in answered.outcome.calls)


def _numbered(played: Played) -> Iterator[tuple[int, Seen]]:
    return enumerate(played.seen, 1)


def _unbroken_path(played: Played) -> str:
    for answered in played.answered:
        steps = answered.outcome.transitions
        apart = [after.n for before, after in pairwise(steps) if before.to is not after.state]
        if apart or [step.n for step in steps] != list(range(1, len(steps) + 1)):
            return f"the path is torn at step {apart[0] if apart else len(steps)}"
    return ""


EVERYWHERE = (
    Promise("wire", "the server refused nothing, and was asked for all turns", _accepted),
    Promise("P1", "one result a call, in order, in one message after its turn", _paired),
    Promise("P2", "the outcome and the answer are those that are due", _ended),
    Promise("P3", "as many rounds and model calls as are due", _counted),
    Promise("P5", "each call's status is true, and is what the model was told", _told_truly),
    Promise("P7", "each step starts where the one before it ended", _unbroken_path),
    Promise("P9", "each request repeats the one before it, hidden parts too", _grows),
)


# The closing call

NO_CLOSING = "there was no closing call"


def _closed(played: Played) -> str:
    if len(played.answered[0].seen) < 2:
        return NO_CLOSING
    *open_calls, closing = played.answered[0].seen
    if closing.may_use_tools or not all(seen.may_use_tools for seen in open_calls):
        return "the choice is none in another call than the last one, or not in the last one"
    if not closing.tools or closing.tools != open_calls[0].tools:
        return f"the closing call declares {list(closing.tools)}, the first one {list(open_calls[0].tools)}"
    return ""


def _guided(played: Played) -> str:
    if len(played.answered[0].seen) < 2:
        return NO_CLOSING
    *open_calls, closing = played.answered[0].seen
    guidance = ENGLISH.closing_because(played.answered[0].outcome.reason or Reason.MAX_ROUNDS)
    if not _guides(closing, guidance):
        return "the closing call has no guidance in its system instructions"
    if any(_guides(seen, guidance) for seen in open_calls):
        return "an open call has the guidance of the closing call"
    if any(guidance in told for seen in played.seen for told in _outside(seen)):
        return "the guidance stands in a tool result or in somebody's message"
    return ""


def _guides(seen: Seen, guidance: str) -> bool:
    # A system message in the history must come last: the results stand straight after their turn.
    return guidance in seen.system or seen.items[-1:] == (Said("engine", guidance),)


def _outside(seen: Seen) -> Iterator[str]:
    yield from (answer.text for answer in seen.answers)
    yield from (item.text for item in seen.items if isinstance(item, Said) and item.who != "engine")


def _left_undone(played: Played) -> str:
    outcome = played.answered[0].outcome
    withheld = [call for call in outcome.calls if call.status is Status.NOT_EXECUTED]
    told = {answer.id: answer.text for seen in played.seen[-1:] for answer in seen.answers}
    words = ENGLISH.not_executed_because(outcome.reason or Reason.MAX_ROUNDS)
    if not withheld or any(told.get(call.id) != words for call in withheld):
        return "a withheld call is not told to the model as not executed"
    if [each.id for each in outcome.unfinished] != [call.id for call in withheld]:
        return f"left undone are {[call.id for call in withheld]}, named are {[each.id for each in outcome.unfinished]}"
    return ""


CLOSING = (
    Promise("P4", "the last call declares the same tools, and may use none", _closed),
    Promise("P4", "its guidance is in the system instructions and only there", _guided),
    Promise("P4", "what was withheld is told as not executed, and named", _left_undone),
)


# What tools did


def goal_saved(exercise: str, kg: float) -> Promise:
    """
    A goal lies on the desk.
    """

    def fault(played: Played) -> str:
        found = played.goals.get(exercise)
        return "" if found == kg else f"the goal for {exercise} on the desk is {found}, not {kg}"

    return Promise("tools", f"the goal for {exercise} really was saved: {kg:g} kg", fault)


def _grounded(played: Played) -> str:
    known = {figure for seen in played.seen for answer in seen.answers for figure in _figures(answer.text)}
    said = [figure for answered in played.answered for figure in _figures(answered.outcome.answer)]
    invented = [figure for figure in said if figure not in known]
    return f"the answer has figures that no tool gave: {invented}" if invented else ""


def _figures(text: str) -> Iterator[float]:
    return map(float, re.findall(r"\d+(?:\.\d+)?", text))


GROUNDED = Promise("tools", "every figure in the answer stands in a tool's result", _grounded)


def _withheld_details(played: Played) -> str:
    bodies = [each.raw for answered in played.answered for each in answered.received]
    leaks = any(played.folder.encode() in body for body in bodies)
    return "the model was told where the desk is" if leaks else ""


DISCREET = Promise("P10", "the model learned the exception's class, not its message", _withheld_details)


# The cancel


def _nothing_runs(played: Played) -> str:
    left = played.answered[0].outcome.still_running
    return f"still running: {list(left)}" if left else ""


def _kept_after_cancel(played: Played) -> str:
    cancelled, after = played.answered
    told = {answer.id: (answer.text, answer.failed) for seen in after.seen[:1] for answer in seen.answers}
    if len(cancelled.outcome.calls) != 2:
        return f"{len(cancelled.outcome.calls)} calls came before the cancel, not 2"
    finished, running = cancelled.outcome.calls
    if told.get(finished.id) != (finished.text, False):
        return f"the finished {finished.name} lost its result"
    if told.get(running.id) != (ENGLISH.interrupted, True):
        return f"the running {running.name} is not told as interrupted, with its outcome unknown"
    return ""


CANCELLED = (
    Promise("P6", "the cancel left nothing running", _nothing_runs),
    Promise("P6", "then sent: the finished call's result, the other as unknown", _kept_after_cancel),
)
