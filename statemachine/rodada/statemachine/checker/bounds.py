"""
What the checker explores: scenes, smallest first, each with limits and with what the world may do in it.
"""

from attrs import evolve, fields, frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.limits import Limits

TOKENS_A_TURN = 10
COST_A_TURN = 1.0


@frozen(kw_only=True)
class Bounds:
    """
    How far the checker goes.

    Attributes:
        rounds: scenes with 0 to this many rounds.
        requests: turns with 0 to this many requests.
        attempts: tries of a model call.
        pauses: resumed pauses.
        approvers: how many must approve a gated call.
    """

    rounds: int = 2
    requests: int = 2
    attempts: int = 2
    pauses: int = 1
    approvers: int = 2

    def __attrs_post_init__(self) -> None:
        least = {"rounds": 0, "requests": 1, "attempts": 1, "pauses": 0, "approvers": 1}
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                raise InvalidValue(f"Bounds.{name}", f"must be at least {lowest}, got {getattr(self, name)}")

    def cover(self, other: "Bounds") -> bool:
        """
        Whether these are nowhere narrower than others.
        """
        return all(getattr(self, field.name) >= getattr(other, field.name) for field in fields(Bounds))

    @classmethod
    def parse(cls, text: str) -> "Bounds":
        """
        Bounds from text such as "rounds=3,requests=2".

        Raises:
            InvalidValue: an unknown name, or no whole number.
        """
        known = [field.name for field in fields(cls)]
        given: dict[str, int] = {}
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            name, _, number = part.partition("=")
            if name not in known or not number.isdecimal():
                raise InvalidValue("bounds", f"{part!r} is none of {', '.join(f'{each}=N' for each in known)}")
            given[name] = int(number)
        return cls(**given)


@frozen(kw_only=True)
class Scene:
    """
    One exploration.

    Attributes:
        name: what it is about.
        limits: of its runs.
        requests: most requests in a turn.
        independent: whether plans without order are offered beside sequential ones.
        approvers: approvals that the first request of a turn needs; 0 for none.
        repeats: whether a turn may ask for the same calls again.
        untold: whether a turn may tell nothing of its tokens.
    """

    name: str
    limits: Limits
    requests: int = 1
    independent: bool = False
    approvers: int = 0
    repeats: bool = False
    untold: bool = False


def scenes(bounds: Bounds) -> tuple[Scene, ...]:
    """
    The scenes within some bounds, smallest first.
    """
    return tuple(scene for rounds in range(bounds.rounds + 1) for scene in _scenes_of(bounds, rounds))


def _scenes_of(bounds: Bounds, rounds: int) -> tuple[Scene, ...]:
    plain = Limits(max_rounds=rounds, max_attempts=1, max_pauses=0)
    budget = (rounds + 1) * TOKENS_A_TURN
    full = Limits(
        max_rounds=rounds,
        max_attempts=bounds.attempts,
        max_pauses=bounds.pauses,
        max_repeats=1,
        max_tokens_total=budget,
        max_cost=(rounds + 1) * COST_A_TURN,
        max_parallel=bounds.requests,
    )
    return (
        Scene(name=f"{rounds} rounds, plain", limits=plain),
        Scene(
            name=f"{rounds} rounds, people approve",
            # With a turn less, the money would always be gone where the rounds are.
            limits=evolve(plain, max_cost=(rounds + 2) * COST_A_TURN),
            requests=bounds.requests,
            independent=True,
            approvers=bounds.approvers,
        ),
        Scene(
            name=f"{rounds} rounds, cost not known",
            limits=evolve(plain, max_cost=(rounds + 1) * COST_A_TURN),
            untold=True,
        ),
        Scene(
            name=f"{rounds} rounds, one tool at once",
            limits=Limits(max_rounds=rounds, max_attempts=1, max_pauses=0, max_parallel=1, max_tokens_total=budget),
            requests=bounds.requests,
            independent=True,
        ),
        Scene(
            name=f"{rounds + 1} rounds, polling",
            limits=Limits(max_rounds=rounds + 1, max_attempts=1, max_pauses=0, max_repeats=2),
            repeats=True,
        ),
        Scene(
            name=f"{rounds} rounds, everything",
            limits=full,
            requests=bounds.requests,
            independent=True,
            approvers=bounds.approvers,
            repeats=True,
        ),
    )
