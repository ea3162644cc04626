"""
Every scene keeps its promises through every SDK, and every promise can be broken: by a request that was tampered with,
or by an outcome that is not the true one.
"""

import asyncio
import copy
import functools
import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from attrs import evolve

from rodada.cli.demo.performance import KEY
from rodada.cli.demo.play import play
from rodada.cli.demo.promises import judged
from rodada.cli.demo.scene import Played
from rodada.cli.demo.scenes import A_CANCEL, A_FAILURE, SCENES, THE_LIMIT, THREE_TOOLS, TWO_REQUESTS
from rodada.cli.demo.vendors import VENDORS, Vendor
from rodada.providers.loopback import Failure, Loopback
from rodada.statemachine import ENGLISH, Reason, RunStatus, Status, ToolLoop

# Requests are broken by hand here: what they hold is the point of the tests, not their types.
Body: TypeAlias = dict[str, Any]
Tamper: TypeAlias = Callable[[Body], object]

BY_NAME: dict[str, Vendor] = {vendor.name: vendor for vendor in VENDORS}
WIRES = tuple(BY_NAME)
GUIDANCE = ENGLISH.closing_because(Reason.MAX_ROUNDS)


@functools.cache
def performed(wire: str) -> dict[str, Played]:
    """
    Every scene through one SDK, by title.
    """
    vendor = BY_NAME[wire]

    async def through() -> dict[str, Played]:
        with Loopback() as server:
            async with ToolLoop(vendor.provider(vendor.model, KEY, server.base_url(vendor.name))) as loop:
                return {scene.title: await play(scene, vendor, loop, server) for scene in SCENES}

    return asyncio.run(through())


def broken(played: Played) -> set[str]:
    """
    What the broken promises say.
    """
    return {each.promise.says for each in judged(played) if each.fault}


def tampered(whole: Played, tamper: Tamper, message: int = 0, request: int = -1) -> Played:
    """
    A played scene with one received request changed.
    """
    received = [*whole.answered[message].received]
    body: Body = copy.deepcopy(dict(received[request].body))
    tamper(body)
    received[request] = evolve(received[request], body=body, raw=json.dumps(body).encode())
    answered = [*whole.answered]
    answered[message] = evolve(answered[message], received=tuple(received))
    return evolve(whole, answered=tuple(answered))


def retold(whole: Played, **changes: Any) -> Played:
    """
    A played scene with another outcome of its first message.
    """
    first, *others = whole.answered
    return evolve(whole, answered=(evolve(first, outcome=evolve(first.outcome, **changes)), *others))


# Each wire's pieces: the history, and the newest results in it


def history(body: Body) -> list[Body]:
    return next(body[name] for name in ("messages", "input", "contents") if name in body)


def results(body: Body) -> list[Body]:
    last = next(each for each in reversed(history(body)) if each.get("role") != "system")
    return last.get("content") or last.get("parts") or history(body)


def swap_results(body: Body) -> None:
    found = results(body)
    found[-2:] = found[:-3:-1]


def drop_result(body: Body) -> None:
    results(body).pop()


def split_results(body: Body) -> None:
    last = results(body).pop()
    message = {"role": "user"}
    if "input" in body:
        history(body).extend([{"type": "message", "role": "user", "content": "and"}, last])
    else:
        history(body).append({**message, "content" if "messages" in body else "parts": [last]})


def words_before_results(body: Body) -> None:
    said = {"type": "message", "role": "user", "content": "Wait", "parts": [{"text": "Wait"}]}
    at = -2 if "input" in body else -1
    history(body).insert(at, said)


def one_id_twice(body: Body) -> None:
    history(body).extend(copy.deepcopy(history(body)[1:]))


def unflag(body: Body) -> None:
    for result in results(body):
        result.pop("is_error", None)
        told = result.get("functionResponse", {}).get("response", {})
        if "error" in told:
            told["output"] = told.pop("error")
        if result.get("type") == "function_call_output" and result["output"].startswith('{"error"'):
            result["output"] = json.loads(result["output"])["error"]["message"]


def other_words(body: Body) -> None:
    for result in results(body):
        if "content" in result and result.get("type") == "tool_result":
            result["content"] = "All is well."
        if "functionResponse" in result:
            told = result["functionResponse"]["response"]
            told.update(dict.fromkeys(told, "All is well."))
        if "output" in result:
            result["output"] = "All is well."


def forget_beginning(body: Body) -> None:
    history(body)[0] = {"type": "message", "role": "user", "content": "Hi", "parts": [{"text": "Hi"}]}


def no_tools(body: Body) -> None:
    body.pop("tools")


def free_choice(body: Body) -> None:
    body.pop("tool_choice", None)
    body.pop("toolConfig", None)


def no_choice(body: Body) -> None:
    body["tool_choice"] = {"type": "none"} if "messages" in body else "none"
    body["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}


def unguided(body: Body) -> None:
    if "messages" in body:
        body["messages"].pop()
    if "input" in body:
        body["instructions"] = "Be brief."
    if "contents" in body:
        body["systemInstruction"] = {"role": "user", "parts": [{"text": "Be brief."}]}


def guided_by_result(body: Body) -> None:
    for result in results(body):
        if result.get("type") == "tool_result":
            result["content"] += GUIDANCE
        if "functionResponse" in result:
            told = result["functionResponse"]["response"]
            told.update({key: text + GUIDANCE for key, text in told.items()})
        if "output" in result:
            result["output"] = GUIDANCE


ONE_RESULT = "one result a call, in order, in one message after its turn"
TOLD = "each call's status is true, and is what the model was told"
REPEATS = "each request repeats the one before it, hidden parts too"
SAME_TOOLS = "the last call declares the same tools, and may use none"
GUIDED = "its guidance is in the system instructions and only there"
WITHHELD = "what was withheld is told as not executed, and named"
KEPT = "then sent: the finished call's result, the other as unknown"
NOTHING_RUNS = "the cancel left nothing running"
REFUSED = "the server refused nothing, and was asked for all turns"
ENDED = "the outcome and the answer are those that are due"
COUNTED = "as many rounds and model calls as are due"
UNBROKEN = "each step starts where the one before it ended"
DISCREET = "the model learned the exception's class, not its message"
GROUNDED = "every figure in the answer stands in a tool's result"
SAVED = "the goal for bench press really was saved: 85 kg"


@pytest.mark.parametrize("wire", WIRES)
def test_every_scene_keeps_its_promises(wire: str) -> None:
    found = {title: broken(played) for title, played in performed(wire).items()}
    assert found == {scene.title: set() for scene in SCENES}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("tamper", [swap_results, drop_result, split_results, words_before_results, one_id_twice])
def test_results_that_are_not_paired_are_seen(wire: str, tamper: Tamper) -> None:
    assert ONE_RESULT in broken(tampered(performed(wire)[TWO_REQUESTS.title], tamper))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("tamper", [unflag, other_words])
def test_a_status_or_text_that_is_not_the_recorded_one_is_seen(wire: str, tamper: Tamper) -> None:
    assert TOLD in broken(tampered(performed(wire)[TWO_REQUESTS.title], tamper))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("tamper", [forget_beginning, no_tools])
def test_a_request_that_does_not_repeat_the_one_before_it_is_seen(wire: str, tamper: Tamper) -> None:
    assert REPEATS in broken(tampered(performed(wire)[THREE_TOOLS.title], tamper))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("tamper", "request_at", "promise"),
    [
        (no_tools, -1, SAME_TOOLS),
        (free_choice, -1, SAME_TOOLS),
        (no_choice, 0, SAME_TOOLS),
        (unguided, -1, GUIDED),
        (guided_by_result, -2, GUIDED),
        (other_words, -1, WITHHELD),
    ],
)
def test_a_closing_call_in_another_form_is_seen(wire: str, tamper: Tamper, request_at: int, promise: str) -> None:
    assert promise in broken(tampered(performed(wire)[THE_LIMIT.title], tamper, request=request_at))


def test_guidance_in_the_text_that_thinking_is_bound_to_is_seen() -> None:
    def guide_at_the_top(body: Body) -> None:
        body["system"] += GUIDANCE

    assert broken(tampered(performed("anthropic")[THE_LIMIT.title], guide_at_the_top)) == {REPEATS}


@pytest.mark.parametrize("wire", WIRES)
def test_a_result_lost_in_a_cancel_is_seen(wire: str) -> None:
    def lose_results(body: Body) -> None:
        body_history = history(body)
        lost = [each for each in body_history if each.get("type") == "function_call_output"]
        body_history[:] = [each for each in body_history if each not in lost] if lost else [body_history[0]]

    assert KEPT in broken(tampered(performed(wire)[A_CANCEL.title], lose_results, message=1))


def test_a_call_that_was_cut_off_and_is_told_as_finished_is_seen() -> None:
    def finish(body: Body) -> None:
        outputs = [each for each in body["input"] if each["type"] == "function_call_output"]
        outputs[-1]["output"] = "The coach has read the question."

    assert broken(tampered(performed("openai")[A_CANCEL.title], finish, message=1)) == {KEPT, TOLD}


def test_guidance_in_an_open_call_is_seen() -> None:
    def guide(body: Body) -> None:
        body["instructions"] += GUIDANCE

    assert broken(tampered(performed("openai")[THE_LIMIT.title], guide, request=1)) == {GUIDED}


def test_something_that_still_runs_after_a_cancel_is_seen() -> None:
    assert broken(retold(performed("openai")[A_CANCEL.title], still_running=("call_1",))) == {NOTHING_RUNS}


def test_a_refused_request_is_seen() -> None:
    whole = performed("openai")[A_FAILURE.title]
    first = whole.answered[0]
    received = (*first.received[:-1], evolve(first.received[-1], refusal=Failure(400, "No tool output found")))
    faults = [each.fault for each in judged(evolve(whole, answered=(evolve(first, received=received),)))]
    assert [fault for fault in faults if fault] == ["the server refused a request: No tool output found"]


def test_a_turn_that_nobody_asked_for_is_seen() -> None:
    whole = performed("openai")[A_FAILURE.title]
    assert broken(evolve(whole, answered=(evolve(whole.answered[0], unplayed=1),))) == {REFUSED}


@pytest.mark.parametrize(
    "changes",
    [
        {"status": RunStatus.INCOMPLETE, "reason": Reason.MAX_ROUNDS},
        {"reason": Reason.CUT},
        {"answer": ""},
        {"answer": "Your best is 82.5 kg, and"},
    ],
)
def test_an_outcome_that_is_not_due_is_seen(changes: dict[str, Any]) -> None:
    assert ENDED in broken(retold(performed("openai")[THREE_TOOLS.title], **changes))


@pytest.mark.parametrize("changes", [{"rounds": 4}, {"rounds": 2}, {"model_calls": 5}])
def test_a_wrong_count_is_seen(changes: dict[str, Any]) -> None:
    assert broken(retold(performed("openai")[THREE_TOOLS.title], **changes)) == {COUNTED}


def test_a_call_that_is_told_better_than_it_was_is_seen() -> None:
    whole = performed("openai")[A_FAILURE.title]
    better = tuple(evolve(call, status=Status.SUCCEEDED) for call in whole.answered[0].outcome.calls)
    assert broken(retold(whole, calls=better)) == {TOLD}


def test_a_call_that_the_outcome_forgot_is_seen() -> None:
    assert TOLD in broken(retold(performed("openai")[A_FAILURE.title], calls=()))


def test_work_left_undone_that_is_not_named_is_seen() -> None:
    assert broken(retold(performed("openai")[THE_LIMIT.title], unfinished=())) == {WITHHELD}


def test_a_torn_path_is_seen() -> None:
    whole = performed("openai")[THREE_TOOLS.title]
    steps = whole.answered[0].outcome.transitions
    assert broken(retold(whole, transitions=(*steps[:3], *steps[4:]))) == {UNBROKEN}


def test_a_path_that_leaked_to_the_model_is_seen() -> None:
    whole = performed("openai")[A_FAILURE.title]
    assert broken(evolve(whole, folder="read_body_weight")) == {DISCREET}


def test_a_figure_that_no_tool_gave_is_seen() -> None:
    invented = "Your bench press went up by 12 kg."
    assert GROUNDED in broken(retold(performed("openai")[THREE_TOOLS.title], answer=invented))


def test_a_goal_that_was_not_saved_is_seen() -> None:
    assert broken(evolve(performed("openai")[THREE_TOOLS.title], goals={})) == {SAVED}


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.title)
def test_a_scene_without_any_request_breaks_promises_and_no_check(scene: Any) -> None:
    whole = performed("openai")[scene.title]
    empty = tuple(
        evolve(answered, received=(), outcome=evolve(answered.outcome, calls=(), transitions=()))
        for answered in whole.answered
    )
    assert {ENDED, UNBROKEN}.isdisjoint(broken(evolve(whole, answered=empty)))
    assert {COUNTED, TOLD} <= broken(evolve(whole, answered=empty))


def test_every_promise_of_the_demo_is_broken_somewhere_above() -> None:
    promised = {each.promise.says for played in performed("openai").values() for each in judged(played)}
    named = {
        *(ONE_RESULT, TOLD, REPEATS, SAME_TOOLS, GUIDED, WITHHELD, KEPT, NOTHING_RUNS, REFUSED, ENDED, COUNTED),
        *(UNBROKEN, DISCREET, GROUNDED, SAVED, SAVED.replace("bench press", "deadlift").replace("85", "150")),
    }
    assert promised == named
