"""
Faults of loops on compatible servers, end to end through the real SDK: what such a server gets wrong changes neither
what runs nor what is true of it.
"""

import json
from collections.abc import Generator

import pytest
from attrs import field, frozen

from rodada.providers.loopback import Call, Deviation, Loopback, Reply, Turn
from rodada.providers.loopback.json_values import Object, obj, objs, text
from rodada.statemachine import Limits, Outcome, Reason, RunStatus, Status, ToolLoop, Usage
from rodada.tools import tool
from support.stage import Stage, set_stage
from support.virtual_clock import VirtualClock
from support.wire_pairs import pair_faults

MODEL = "gpt-4.1"


@frozen
class Gym:
    """
    A loop with some tools, and what they were asked.
    """

    stage: Stage
    ran: list[object] = field(factory=list[object])

    def run(self, *script: Reply, stream: bool = False) -> Outcome:
        """
        One message, all of whose replies are wanted and none of whose requests is refused or badly paired.
        """
        ran = self.ran

        @tool
        def weigh(kg: int) -> float:
            """Weigh something."""
            ran.append(kg)
            return kg / 2

        @tool
        def now() -> object:
            """Tell the time."""
            ran.append("now")
            return {"error": "none", "at": "noon"}

        server = self.stage.server
        server.play(script)
        loop = ToolLoop(
            self.stage.providers[MODEL],
            tools=[weigh, now],
            limits=Limits(max_attempts=1),
            stream=stream,
            clock=VirtualClock(),
        )
        outcome = self.stage.run(loop.run("Please do."))
        assert (server.refusals, server.unplayed) == ((), 0)
        assert [pair_faults("openai_chat", each.body) for each in server.received] == [[]] * len(server.received)
        return outcome

    @property
    def told(self) -> list[Object]:
        """
        The messages of the last request.
        """
        return objs(self.stage.server.requests()[-1]["messages"])


def serving(*deviations: Deviation) -> Generator[Gym]:
    with set_stage(Loopback(chat_deviations={MODEL: deviations})) as stage:
        yield Gym(stage)


@pytest.fixture(name="gym")
def _gym(request: pytest.FixtureRequest) -> Generator[Gym]:
    yield from serving(*getattr(request, "param", ()))


def deviating(*names: Deviation) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("gym", [names], indirect=True, ids="-".join)


def weigh(kg: object, id: str | None = None) -> Call:
    return Call("weigh", {"kg": kg}, id)


def raw(arguments: str, name: str = "weigh") -> Call:
    return Call(name, arguments)


def statuses(outcome: Outcome) -> list[Status]:
    return [call.status for call in outcome.calls]


DONE = Turn("Done.")


@deviating("ids_same")
def test_f023_the_same_id_in_every_turn_is_renamed_in_step(gym: Gym) -> None:
    outcome = gym.run(Turn("", [weigh(1), weigh(2)]), Turn("", [weigh(3)]), DONE)
    assert gym.ran == [1, 2, 3]
    assert len({call.id for call in outcome.calls}) == 3


@pytest.mark.parametrize("gym", [(), ("arguments_null",)], indirect=True, ids=["empty", "null"])
def test_f026_a_call_without_arguments_runs_where_none_are_needed(gym: Gym) -> None:
    outcome = gym.run(Turn("", [raw("", "now"), raw("")]), DONE)
    assert (gym.ran, statuses(outcome)) == (["now"], [Status.SUCCEEDED, Status.FAILED])
    assert [call["function"] for call in objs(gym.told[1]["tool_calls"])] == [
        {"name": "now", "arguments": "{}"},
        {"name": "weigh", "arguments": "{}"},
    ]


@pytest.mark.parametrize("arguments", ["[1]", '"x"', "null", "3", '"{\\"kg\\": 1}"', '{"kg": ', "{bad"])
def test_f027_f028_f029_arguments_that_are_no_object_fail_and_their_siblings_run(gym: Gym, arguments: str) -> None:
    outcome = gym.run(Turn("", [raw(arguments), weigh(2)]), DONE)
    assert (gym.ran, statuses(outcome)) == ([2], [Status.FAILED, Status.SUCCEEDED])
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "Done.")


def test_f043_f044_results_of_every_kind_are_texts_and_an_error_key_is_no_failure(gym: Gym) -> None:
    outcome = gym.run(Turn("", [weigh(7), Call("now")]), DONE)
    assert statuses(outcome) == [Status.SUCCEEDED, Status.SUCCEEDED]
    first, second = (text(each["content"]) for each in gym.told if each["role"] == "tool")
    assert (first, json.loads(second)) == ("3.5", {"error": "none", "at": "noon"})


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "gym",
    [
        ("indexes_zero",),
        ("indexes_zero", "names_repeated"),
        ("indexes_zero", "ids_missing"),
        ("indexes_zero", "calls_in_one_chunk", "ids_empty"),
        ("indexes_missing",),
        ("indexes_missing", "ids_missing"),
        ("ids_same", "index_on_calls"),
    ],
    indirect=True,
    ids="-".join,
)
def test_f095_calls_side_by_side_are_never_glued(gym: Gym, stream: bool) -> None:
    outcome = gym.run(Turn("", [weigh(1), weigh(2), Call("now"), weigh(3)]), DONE, stream=stream)
    assert (gym.ran, statuses(outcome)) == ([1, 2, "now", 3], [Status.SUCCEEDED] * 4)
    calls = [obj(call["function"]) for call in objs(gym.told[1]["tool_calls"])]
    assert [call["name"] for call in calls] == ["weigh", "weigh", "now", "weigh"]


@deviating("usage_missing")
def test_f098_a_run_without_usage_completes_and_counts_nothing(gym: Gym) -> None:
    outcome = gym.run(Turn("", [weigh(1)]), DONE)
    assert (outcome.status, outcome.usage) == (RunStatus.COMPLETED, Usage())


@deviating("stop_beside_calls", "types_missing", "arguments_as_objects")
def test_calls_run_though_the_server_says_stop(gym: Gym) -> None:
    outcome = gym.run(Turn("", [weigh(1)]), DONE)
    assert (gym.ran, outcome.answer) == ([1], "Done.")


def test_a_choice_that_is_none_of_ours_never_runs_a_tool(gym: Gym) -> None:
    outcome = gym.run(Turn("Hm.", [weigh(1)], stop="unknown"))
    assert (gym.ran, outcome.reason, outcome.detail) == ([], Reason.UNKNOWN_STOP, "a_reason_of_tomorrow")
