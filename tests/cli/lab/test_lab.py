"""
`rodada lab`: simulated calls, run by the loop; what is said of them depends on no speed.
"""

import asyncio
import heapq
import json
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count, pairwise, permutations
from pathlib import Path
from typing import cast

import pytest
from attrs import evolve

from rodada.cli.lab.calls import LabCall, calls_of, read_calls
from rodada.cli.lab.running import lab_json, lab_lines, run_lab
from rodada.statemachine.errors import FormatError
from rodada.statemachine.jsontext import JsonObject, JsonValue
from support.command_line import Desk
from support.virtual_clock import VirtualTimer

EXAMPLE = Path(__file__).parents[2] / "tools" / "lab_example.json"


class Hurried:
    """
    A clock that jumps to the next moment as soon as nothing else happens.

    Attributes:
        passed: the moments, in order.
    """

    def __init__(self) -> None:
        self.passed: list[float] = []
        self._due: list[tuple[float, int, VirtualTimer]] = []
        self._numbers = count()

    def now(self) -> datetime:
        return datetime(2026, 11, 30, tzinfo=UTC)

    def mono(self) -> float:
        return self.passed[-1] if self.passed else 0.0

    def later(self, seconds: float, callback: Callable[[], object]) -> VirtualTimer:
        timer = VirtualTimer(self.mono() + seconds, callback)
        heapq.heappush(self._due, (timer.due, next(self._numbers), timer))
        asyncio.get_running_loop().call_soon(self._turn, 5)
        return timer

    def _turn(self, turns_left: int) -> None:
        if turns_left:
            asyncio.get_running_loop().call_soon(self._turn, turns_left - 1)
            return
        moment, _, timer = heapq.heappop(self._due)
        self.passed.append(moment)
        timer.fire()


def ran(calls: tuple[LabCall, ...], iterations: int = 10, clock: Hurried | None = None) -> JsonObject:
    outcome = asyncio.run(run_lab(calls, iterations, clock or Hurried()))
    return lab_json(calls, outcome)


def results(told: JsonObject) -> dict[str, JsonObject]:
    return cast("dict[str, JsonObject]", told["results"])


def of(*calls: JsonObject) -> tuple[LabCall, ...]:
    return calls_of({"calls": [{"name": f"tool_{call['id']}", **call} for call in calls]})


def test_the_example_runs_independent_calls_together_and_dependents_after_what_they_need() -> None:
    told = ran(read_calls(EXAMPLE))
    assert {key: told[key] for key in ("state", "reason", "iterations", "left")} == {
        "state": "completed",
        "reason": None,
        "iterations": 4,
        "left": [],
    }
    assert [(call_id, each["iteration"], each["status"]) for call_id, each in results(told).items()] == [
        ("c1", 1, "succeeded"),
        ("c2", 1, "succeeded"),
        ("c3", 2, "succeeded"),
        ("c4", 3, "succeeded"),
        ("c5", 2, "failed"),
        ("c6", 3, "failed"),
        ("c7", 4, "succeeded"),
    ]
    assert results(told)["c4"] == {
        "name": "multiply",
        "deterministic": True,
        "status": "succeeded",
        "iteration": 3,
        "resolved_by": "code",
        "arguments": {"a": 12.5, "b": 4},
        "result": 50.0,
    }
    assert results(told)["c6"] == {
        "name": "reserve",
        "deterministic": False,
        "status": "failed",
        "iteration": 3,
        "error": "c6 was not run: it needs c5, which gave no result.",
    }


def test_any_speeds_give_the_same_output_and_calls_of_one_iteration_take_the_time_of_the_slowest() -> None:
    told: set[str] = set()
    orders: set[tuple[str, ...]] = set()
    for speeds in permutations((1.0, 2.0, 3.0, 4.0)):
        clock = Hurried()
        seconds: dict[str, float] = dict(zip(("c1", "c2", "c3", "c5"), speeds, strict=True))
        calls = tuple(evolve(call, seconds=seconds.get(call.id, 0.0)) for call in read_calls(EXAMPLE))
        told.add(json.dumps(ran(calls, clock=clock)))
        assert clock.passed[-1] == max(seconds["c1"], seconds["c2"]) + max(seconds["c3"], seconds["c5"])
        orders.add(tuple(sorted(seconds, key=seconds.__getitem__)))
    assert (len(told), len(orders)) == (1, 24)


def test_a_deterministic_call_is_answered_at_once_and_computed_once_for_equal_arguments() -> None:
    twice: JsonObject = {"name": "add", "arguments": {"a": 1}, "deterministic": True, "seconds": 100}
    clock = Hurried()
    told = ran(
        of({"id": "x", **twice}, {"id": "y", **twice}, {"id": "z", "arguments": {"x": {"$result": "y"}}}), clock=clock
    )
    assert clock.passed == []
    assert [(each["deterministic"], each.get("resolved_by")) for each in results(told).values()] == [
        (True, "code"),
        (True, "code"),
        (False, "tool"),
    ]
    assert results(told)["z"]["result"] == {"x": {"a": 1}}


def test_the_limit_ends_in_a_state_that_names_what_is_left() -> None:
    told = ran(read_calls(EXAMPLE), iterations=2)
    assert {key: told[key] for key in ("state", "reason", "iterations", "left")} == {
        "state": "not_completed",
        "reason": "max_iterations",
        "iterations": 2,
        "left": ["c4", "c6", "c7"],
    }
    assert [(key, each["status"]) for key, each in results(told).items() if each["iteration"] is None] == [
        ("c4", "not_executed"),
        ("c6", "not_executed"),
        ("c7", "not_executed"),
    ]
    assert ran(read_calls(EXAMPLE), iterations=0)["left"] == ["c1", "c2", "c3", "c4", "c5", "c6", "c7"]


def test_exactly_enough_iterations_complete() -> None:
    assert ran(read_calls(EXAMPLE), iterations=4)["state"] == "completed"
    assert ran((), iterations=0)["state"] == "completed"


def test_a_failure_reaches_everything_behind_it_in_one_iteration_and_nothing_else() -> None:
    told = ran(
        of(
            {"id": "d", "depends_on": ["c"]},
            {"id": "c", "arguments": {"of": [{"$result": "b"}]}},
            {"id": "b", "depends_on": ["a"]},
            {"id": "a", "fails": True},
            {"id": "e"},
        )
    )
    assert [(key, each["status"], each["iteration"], each.get("error")) for key, each in results(told).items()] == [
        ("d", "failed", 2, "d was not run: it needs c, which gave no result."),
        ("c", "failed", 2, "c was not run: it needs b, which gave no result."),
        ("b", "failed", 2, "b was not run: it needs a, which gave no result."),
        ("a", "failed", 1, "a failed."),
        ("e", "succeeded", 1, None),
    ]
    assert told["state"] == "completed"


def test_a_path_that_leads_nowhere_is_an_error_result_of_the_call_that_has_it() -> None:
    told = ran(
        of(
            {"id": "a", "result": {"rows": [{"id": 1}, "text"]}},
            {"id": "b", "arguments": {"id": {"$result": "a", "path": "rows.0.id"}}},
            {"id": "c", "arguments": {"id": {"$result": "a", "path": "rows.2"}}},
            {"id": "d", "arguments": {"id": {"$result": "a", "path": "rows.1.id"}}},
            {"id": "e", "arguments": {"id": {"$result": "a", "path": "cols"}}},
        )
    )
    assert [each.get("error", each.get("result")) for each in results(told).values()][1:] == [
        {"id": 1},
        "c was not run: the result of a has nothing at 'rows.2'.",
        "d was not run: the result of a has nothing at 'rows.1.id'.",
        "e was not run: the result of a has nothing at 'cols'.",
    ]


@pytest.mark.parametrize("value", [None, 0, "", "7", False, [], {"$result": "a"}, "\U0001f600 ä"])
def test_a_result_arrives_as_it_is(value: JsonValue) -> None:
    told = ran(of({"id": "a", "result": value}, {"id": "b", "arguments": {"got": {"$result": "a"}}}))
    assert results(told)["b"]["arguments"] == {"got": value}


def test_a_result_that_grows_too_large_is_an_error_result() -> None:
    calls: list[JsonObject] = [{"id": "c0", "result": "x" * 1000}]
    for number in range(1, 14):
        same: JsonObject = {"$result": f"c{number - 1}"}
        calls.append({"id": f"c{number}", "arguments": {"a": same, "b": same}})
    told = results(ran(of(*calls), iterations=20))
    assert [each["status"] for each in told.values()] == ["succeeded"] * 10 + ["failed"] * 4
    assert told["c10"]["error"] == "c10 gave more than 1000000 characters."


REFUSED: dict[str, tuple[JsonValue, str]] = {
    "no object": ([], '$: expected an object {"calls": [...]}'),
    "other keys": ({"calls": [], "x": 1}, '$: expected an object {"calls": [...]}'),
    "no call": ({"calls": [3]}, "calls[0]: expected an object"),
    "no id": ({"calls": [{"name": "f"}]}, "calls[0].id: expected a text of 1 to 100 printable characters"),
    "blank name": (
        {"calls": [{"id": "a", "name": " "}]},
        "calls[0].name: expected a text of 1 to 100 printable characters",
    ),
    "unknown field": (
        {"calls": [{"id": "a", "name": "f", "depend_on": []}]},
        "calls[0]: has no field 'depend_on'; these are there: "
        "id, name, arguments, depends_on, deterministic, seconds, fails, result",
    ),
    "arguments": ({"calls": [{"id": "a", "name": "f", "arguments": []}]}, "calls[0].arguments: expected an object"),
    "depends_on": (
        {"calls": [{"id": "a", "name": "f", "depends_on": [1]}]},
        "calls[0].depends_on: expected a list of ids",
    ),
    "deterministic": (
        {"calls": [{"id": "a", "name": "f", "deterministic": 1}]},
        "calls[0].deterministic: expected true or false",
    ),
    "seconds": (
        {"calls": [{"id": "a", "name": "f", "seconds": -1}]},
        "calls[0].seconds: expected a number of seconds >= 0",
    ),
    "fails": (
        {"calls": [{"id": "a", "name": "f", "fails": 1}]},
        "calls[0].fails: expected true, false or the text of the error",
    ),
    "reference": (
        {"calls": [{"id": "a", "name": "f", "arguments": {"x": [{"$result": "b", "at": "c"}]}}]},
        'calls[0].arguments.x[0]: a reference is {"$result": ID} or {"$result": ID, "path": "key.key"}',
    ),
    "id twice": (
        {"calls": [{"id": "a", "name": "f"}, {"id": "a", "name": "g"}]},
        "calls[1].id: 'a' is the id of calls[0] too",
    ),
    "unknown id": (
        {"calls": [{"id": "a", "name": "f", "depends_on": ["b"]}]},
        "calls[0]: 'a' needs 'b', and there is no call with that id",
    ),
    "unknown reference": (
        {"calls": [{"id": "a", "name": "f", "arguments": {"x": {"$result": "b"}}}]},
        "calls[0]: 'a' needs 'b', and there is no call with that id",
    ),
    "two results of the same": (
        {
            "calls": [
                {"id": "a", "name": "f", "arguments": {"x": 1, "y": 2}, "deterministic": True, "result": 1},
                {"id": "b", "name": "f", "arguments": {"y": 2, "x": 1}, "deterministic": True, "result": 2},
            ]
        },
        "calls[1]: 'b' is deterministic and ends otherwise than calls[0], which has the same name and arguments",
    ),
    "a result and a failure of the same": (
        {
            "calls": [
                {"id": "a", "name": "f", "deterministic": True},
                {"id": "b", "name": "f", "deterministic": True, "fails": "No."},
            ]
        },
        "calls[1]: 'b' is deterministic and ends otherwise than calls[0], which has the same name and arguments",
    ),
    "itself": (
        {"calls": [{"id": "a", "name": "f", "depends_on": ["a"]}]},
        "calls: these wait for one another: a needs a",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_could_never_run_is_refused_with_its_place(case: str) -> None:
    value, told = REFUSED[case]
    with pytest.raises(FormatError) as error:
        calls_of(value)
    assert str(error.value) == told


def test_the_same_may_end_otherwise_where_no_call_says_that_it_cannot() -> None:
    said: JsonObject = {"name": "f", "arguments": {"x": 1}}
    assert of(
        {**said, "id": "a", "deterministic": True, "result": 1},
        {**said, "id": "b", "result": 2},
        {**said, "id": "c", "deterministic": True, "result": 1},
    )


def test_a_cycle_is_told_in_its_direction() -> None:
    with pytest.raises(FormatError) as error:
        of(
            {"id": "a", "depends_on": ["b"]},
            {"id": "b", "arguments": {"x": {"$result": "c"}}},
            {"id": "c", "depends_on": ["a"]},
        )
    told = str(error.value).removeprefix("calls: these wait for one another: ").split(" needs ")
    assert set(pairwise(told)) == {("a", "b"), ("b", "c"), ("c", "a")}


def test_arguments_nested_too_deeply_are_refused() -> None:
    deep: JsonValue = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(FormatError, match="nested more than 100 deep"):
        of({"id": "a", "arguments": {"x": deep}})


def file(desk: Desk, *calls: JsonObject) -> str:
    path = desk.folder / "lab.json"
    path.write_text(json.dumps({"calls": [{"name": f"tool_{call['id']}", **call} for call in calls]}), encoding="utf-8")
    return str(path)


def test_the_command_prints_json_in_the_order_of_the_file(desk: Desk) -> None:
    said = desk.command("lab", file(desk, {"id": "b", "depends_on": ["a"]}, {"id": "a"}), "--json")
    assert (said.code, said.err) == (0, "")
    assert list(json.loads(said.out)["results"]) == ["b", "a"]


def test_the_command_tells_each_call_in_a_line_and_the_end(desk: Desk) -> None:
    path = file(desk, {"id": "a", "deterministic": True, "result": "x\x1b[2J"}, {"id": "b", "depends_on": ["a"]})
    said = desk.command("lab", path, "--max-iterations", "1")
    assert said.code == 3
    assert said.out.splitlines() == [
        'a: tool_a (deterministic): succeeded: "x\\u001b[2J"',
        "b: tool_b: not executed: Not executed: the limit of tool rounds for one message was reached. It never started "
        "and had no effect.",
        "NOT COMPLETED after 1 iterations; left: b",
    ]


def test_what_was_never_asked_for_says_so() -> None:
    calls = of({"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["b"]})
    outcome = asyncio.run(run_lab(calls, 1, Hurried()))
    assert list(lab_lines(calls, outcome))[2:] == [
        "c: tool_c: not executed: Never asked for: the iterations were used up before what it needs had its result.",
        "NOT COMPLETED after 1 iterations; left: b, c",
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "lab.json: is no JSON: "),
        (b"\xff", "lab.json: expected JSON in UTF-8"),
        (b'{"calls": [{"id": "a", "name": "f", "depends_on": ["a"]}]}', "calls: these wait for one another: a needs a"),
        (None, "lab.json: cannot be read: No such file or directory"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(desk: Desk, content: bytes | None, told: str) -> None:
    if content is not None:
        (desk.folder / "lab.json").write_bytes(content)
    said = desk.command("lab", "lab.json")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"rodada lab: {told}")
