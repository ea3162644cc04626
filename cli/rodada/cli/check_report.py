"""
What a check found, in words and as JSON.
"""

from collections import Counter
from collections.abc import Iterator

from attrs import asdict, fields

from rodada.statemachine import Limits
from rodada.statemachine.checker import Bounds, CheckReport, Scene, Violation, promises
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.table import TABLE

COUNTED = ("max_rounds", "max_attempts", "max_pauses", "max_repeats", "max_tokens_total", "max_cost", "max_parallel")


def report_lines(report: CheckReport, *, killers: bool = False) -> Iterator[str]:
    """
    The report for people; with `killers` how each mutant was caught, path by path.
    """
    yield f"bounds: {', '.join(f'{name}={value}' for name, value in asdict(report.bounds).items())}"
    yield from _scene_lines(report.scenes)
    yield from _promise_lines()
    seen = report.seen
    yield f"explored: {seen.runs:,} states, {seen.steps:,} steps; {seen.refused:,} dishonest events, each refused"
    yield f"rows used: {len(seen.rows)} of {len(TABLE)}"
    yield from (f"  {seen.rows.get(row.name, 0):>7,}  {row.name}" for row in TABLE)
    yield "ends reached:"
    yield from (f"  {count:>7,}  {name}" for name, count in sorted(seen.ends.items()))
    yield from _mutant_lines(report, killers)
    yield from _verdict(report)


def report_json(report: CheckReport) -> JsonObject:
    """
    The report as one JSON object.
    """
    seen = report.seen
    return {
        "sound": report.sound,
        "bounds": {field.name: getattr(report.bounds, field.name) for field in fields(Bounds)},
        "scenes": [scene.name for scene in report.scenes],
        "promises": dict(promises()),
        "states": seen.runs,
        "steps": seen.steps,
        "refused": seen.refused,
        "rows": {row.name: seen.rows.get(row.name, 0) for row in TABLE},
        "dead": list(report.dead),
        "ends": dict(sorted(seen.ends.items())),
        "violation": None if seen.violation is None else _violation_json(seen.violation),
        "caught": [{"mutant": each.name, **_violation_json(each.violation)} for each in report.caught],
        "survivors": [{"mutant": each.name, "implied_by": list(each.implied_by)} for each in report.survivors],
    }


def _violation_json(violation: Violation) -> JsonObject:
    path: list[JsonValue] = list(violation.path)
    return {"promise": violation.promise, "scene": violation.scene, "path": path}


def _scene_lines(scenes: tuple[Scene, ...]) -> Iterator[str]:
    yield f"scenes: {len(scenes)}, each with every order of events, honest and dishonest"
    longest = max(len(scene.name) for scene in scenes)
    yield from (f"  {scene.name:<{longest}}  {_scope(scene)}" for scene in scenes)


def _scope(scene: Scene) -> str:
    usual = Limits()
    told = [f"requests<={scene.requests}"]
    told += [
        f"{name}={_value(scene.limits, name)}" for name in COUNTED if _value(scene.limits, name) != _value(usual, name)
    ]
    told += [f"approvers={scene.approvers}"] if scene.approvers else []
    return ", ".join(told)


def _value(limits: Limits, name: str) -> object:
    return getattr(limits, name)


def _promise_lines() -> Iterator[str]:
    yield "held in every state and every step:"
    yield from (f"  {told}" for _, told in promises())
    yield "  For every event exactly one row fits, an honest event is taken and a dishonest one refused."
    yield "  P2: no run goes round for ever."


def _mutant_lines(report: CheckReport, killers: bool) -> Iterator[str]:
    if not report.caught and not report.survivors:
        return
    total = len(report.caught) + len(report.survivors)
    yield f"mutants: {total}, caught {len(report.caught)}, survived {len(report.survivors)}"
    by = Counter(_short(each.violation.promise) for each in report.caught)
    yield "caught by:"
    yield from (f"  {count:>7,}  {promise}" for promise, count in by.most_common())
    if killers:
        yield "killers:"
        yield from (f"  {line}" for each in report.caught for line in (each.name, *_told(each.violation)))
    yield "survivors, which change nothing because:" if report.survivors else "no survivors"
    yield from (f"  {each.name}: {' and '.join(each.implied_by) or 'NOT CAUGHT'}" for each in report.survivors)


def _short(promise: str) -> str:
    return promise.partition(":")[0]


def _told(violation: Violation) -> Iterator[str]:
    return (f"  {line}" for line in str(violation).splitlines())


def _verdict(report: CheckReport) -> Iterator[str]:
    if report.seen.violation is not None:
        yield "broken:"
        yield from _told(report.seen.violation)
    if report.dead:
        yield f"rows out of reach within these bounds: {', '.join(report.dead)}"
    yield "sound" if report.sound else "NOT SOUND within these bounds"
