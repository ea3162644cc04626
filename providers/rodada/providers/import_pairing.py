"""
Which stored result answers which stored call.

A result belongs to the call whose id it names: of the last turn before it that has such a call. One without an id
belongs to the only call of the last turn that it can answer; where there are several, none is guessed (fault F025).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import define, field, frozen

from rodada.providers.import_steps import Call, Result, Said, Step, Turn
from rodada.providers.imported import Change, ChangeKind
from rodada.statemachine.errors import AmbiguousResult

Key: TypeAlias = tuple[int, int]  # a call: the place of its turn among the steps, and its own in the turn


@frozen
class Stored:
    """
    A result and its place among the steps.
    """

    at: int
    result: Result


@frozen
class Pairs:
    """
    Each answered call with its result, and what had to be changed for it.
    """

    by_call: Mapping[Key, Stored]
    changes: tuple[Change, ...]

    def of(self, at: int, turn: Turn) -> tuple[Result | None, ...]:
        """
        The results of a turn's calls, None for one that has none.
        """
        found = (self.by_call.get((at, position)) for position in range(len(turn.calls)))
        return tuple(None if each is None else each.result for each in found)


def paired(steps: Sequence[Step], *, by_position: bool) -> Pairs:
    """
    The results of some steps, each with its call.

    Args:
        steps: as they are stored.
        by_position: results without ids that are as many as the calls of their name answer them in order: the rule of
            a wire that knows calls without ids.

    Raises:
        AmbiguousResult: a result may answer several calls.
    """
    work = _Work(by_position)
    for at, step in enumerate(steps):
        match step:
            case Turn():
                work.take_turn(at, step)
            case Result():
                work.take_result(Stored(at, step))
            case Said():
                pass
    work.settle()
    return Pairs(work.pairs, (*work.changes, *_moved(steps, work.pairs)))


@define
class _Namesakes:
    """
    The calls of one turn that share an id, and how many of them have a result: the first ones.
    """

    keys: list[Key] = field(factory=list[Key])
    answered: int = 0


@define
class _Work:
    """
    The pairing under way.

    Attributes:
        by_id: the calls of the last turn that used an id.
        early: results whose id no call before them has.
        nameless: results without an id, by the turn before them.
    """

    by_position: bool
    pairs: dict[Key, Stored] = field(factory=dict[Key, Stored])
    changes: list[Change] = field(factory=list[Change])
    turns: dict[int, Turn] = field(factory=dict[int, Turn])
    by_id: dict[str, _Namesakes] = field(factory=dict[str, _Namesakes])
    early: list[Stored] = field(factory=list[Stored])
    nameless: dict[int, list[Stored]] = field(factory=dict[int, list[Stored]])

    def take_turn(self, at: int, turn: Turn) -> None:
        self.turns[at] = turn
        own: dict[str, _Namesakes] = defaultdict(_Namesakes)
        for position, call in enumerate(turn.calls):
            if call.id is not None:
                own[call.id].keys.append((at, position))
        for call_id in own:
            self._refuse_guesses(call_id)
        self.by_id.update(own)

    def take_result(self, stored: Stored) -> None:
        call_id = stored.result.id
        if call_id is None:
            self.nameless.setdefault(next(reversed(self.turns), -1), []).append(stored)
        elif call_id in self.by_id:
            self._give(stored, call_id)
        else:
            self.early.append(stored)

    def settle(self) -> None:
        for stored in self.early:
            self._give(stored, stored.result.id or "")
        for call_id in self.by_id:
            self._refuse_guesses(call_id)
        for at, results in self.nameless.items():
            self._give_by_name(at, results)

    def _give(self, stored: Stored, call_id: str) -> None:
        calls = self.by_id.get(call_id)
        if calls is None:
            self._leave_out(stored, ChangeKind.ORPHAN_RESULT)
        elif calls.answered == len(calls.keys):
            self._leave_out(stored, ChangeKind.DOUBLED_RESULT)
        else:
            self.pairs[calls.keys[calls.answered]] = stored
            calls.answered += 1

    def _leave_out(self, stored: Stored, kind: ChangeKind) -> None:
        result = stored.result
        self.changes.append(result.place.change(kind, result.id or result.name or "", result.told))

    def _give_by_name(self, at: int, results: Sequence[Stored]) -> None:
        by_name: dict[str, list[Stored]] = defaultdict(list)
        nameless: list[Stored] = []
        for stored in results:
            name = stored.result.name
            (nameless if name is None else by_name[name]).append(stored)
        calls = self._open_calls(at)
        for name, named in by_name.items():
            self._give_to(calls.get(name, []), named, in_order=self.by_position)
        if nameless:  # they take what is left
            left = [key for keys in self._open_calls(at).values() for key in keys]
            self._give_to(sorted(left), nameless, in_order=False)

    def _open_calls(self, at: int) -> Mapping[str, list[Key]]:
        found: dict[str, list[Key]] = defaultdict(list)
        for position, call in enumerate(self.turns[at].calls if at in self.turns else ()):
            if (at, position) not in self.pairs:
                found[call.name].append((at, position))
        return found

    def _give_to(self, calls: Sequence[Key], results: Sequence[Stored], *, in_order: bool) -> None:
        if len(calls) > 1 and not (in_order and len(calls) == len(results)):
            raise _ambiguous(results[0], len(calls))
        for key, stored in zip(calls, results, strict=False):
            self.pairs[key] = stored
            if not in_order or self._call(key).id is not None:
                self.changes.append(stored.result.place.change(ChangeKind.PAIRED_RESULT, self._call(key).name))
        for stored in results[len(calls) :]:
            self._leave_out(stored, ChangeKind.DOUBLED_RESULT if calls else ChangeKind.ORPHAN_RESULT)

    def _refuse_guesses(self, call_id: str) -> None:
        """
        Of calls that share an id some have no result: which ones is known only where all ask for the same.
        """
        calls = self.by_id.get(call_id)
        if calls is None or calls.answered in (0, len(calls.keys)):
            return
        if len({(call.name, call.raw) for call in map(self._call, calls.keys)}) > 1:
            raise _ambiguous(self.pairs[calls.keys[0]], len(calls.keys))

    def _call(self, key: Key) -> Call:
        return self.turns[key[0]].calls[key[1]]


def _ambiguous(stored: Stored, several: int) -> AmbiguousResult:
    place = stored.result.place
    expected = "a result that names its call, since several are open"
    return AmbiguousResult(place.wire, place.index, place.path, expected, f"one that may answer {several} of them")


def _moved(steps: Sequence[Step], pairs: Mapping[Key, Stored]) -> list[Change]:
    """
    The results that do not stand straight behind their turn, in the order of its calls.
    """
    ends = _row_ends(steps)
    changes: list[Change] = []
    newest = -1
    for turn, position in sorted(pairs):
        stored = pairs[turn, position]
        if stored.result.is_misplaced or not max(turn, newest) < stored.at <= ends.get(turn, -1):
            told = stored.result.id or stored.result.name or ""
            changes.append(stored.result.place.change(ChangeKind.MOVED_RESULT, told))
        newest = max(newest, stored.at) if newest > turn else stored.at
    return changes


def _row_ends(steps: Sequence[Step]) -> Mapping[int, int]:
    """
    For each turn, the place of the last result in the row behind it.
    """
    ends: dict[int, int] = {}
    turn: int | None = None
    for at, step in enumerate(steps):
        if isinstance(step, Result):
            if turn is not None:
                ends[turn] = at
        else:
            turn = at if isinstance(step, Turn) else None
    return ends
