"""
What model calls cost, by the host's own table of prices: nobody else's is built in, for they change.
"""

import sys

from attrs import frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.messages import ModelTurn, Usage

TOKENS_PRICED = 1_000_000
ALWAYS = ("input", "output")


@frozen(kw_only=True)
class Price:
    """
    What the tokens of a model cost, in the host's currency, for a million of them.

    Attributes:
        model: how the name of the model begins that served; of several prices that fit the longest name counts, and ""
            fits every model.
        input: of input that comes from no cache.
        output: hidden reasoning included.
        cached_input: of input that is read from a cache; None is as `input`.
        cache_write: of input that is written to a cache; None is as `input`.

    Raises:
        InvalidValue: a name that is no text, or a price that is no number >= 0.
    """

    model: str = ""
    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None

    def __attrs_post_init__(self) -> None:
        _check_text("Price.model", self.model)
        for name in ("input", "output", "cached_input", "cache_write"):
            if getattr(self, name) is not None or name in ALWAYS:
                _check(f"Price.{name}", getattr(self, name))

    def of(self, usage: Usage) -> float | None:
        """
        What a call cost; None where it did not tell its input or its output.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
        read = self.input if self.cached_input is None else self.cached_input
        write = self.input if self.cache_write is None else self.cache_write
        fresh = max(0, usage.input_tokens - cached - written)
        parts = ((fresh, self.input), (cached, read), (written, write), (usage.output_tokens, self.output))
        return _rounded(sum(tokens * float(price) for tokens, price in parts) / TOKENS_PRICED)


def cost_of(turn: ModelTurn, prices: tuple[Price, ...]) -> float | None:
    """
    What the call of a turn cost; None where that cannot be known: no price fits, or the call did not tell its tokens.
    """
    fitting = [price for price in prices if turn.model.startswith(price.model)]
    return max(fitting, key=lambda price: len(price.model)).of(turn.usage) if fitting else None


def added(cost: float, more: float) -> float:
    """
    Two costs together.
    """
    return _rounded(cost + more)


def _rounded(amount: float) -> float:
    """
    An amount as the decimal that it is, so that what meets a limit exactly has met it: eight times 0.1 is 0.8. JSON has
    no infinity.
    """
    return min(float(f"{amount:.14g}"), sys.float_info.max)


def _check_text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidValue(what, f"takes a text; got {value!r:.80}")


def _check(what: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
        raise InvalidValue(what, f"takes a number >= 0, for a million tokens; got {value!r:.80}")
