"""
`Context[T]`: what a tool is given of the run that calls it, and what a model never sees.
"""

import types
from datetime import datetime
from typing import Annotated, Generic, TypeVar, Union, get_args, get_origin

from attrs import field, frozen

from rodada.statemachine.ports import CallSetting
from rodada.statemachine.run import Origin

T_co = TypeVar("T_co", covariant=True)


@frozen(eq=False)
class Context(Generic[T_co]):
    """
    What surrounds one call. A parameter of this type is filled in by the engine, wherever it stands, and is no part
    of the schema. In a test, `Context(value)` is enough.

    Attributes:
        value: what the host gave to `run(context=...)`; None when it gave nothing.
    """

    value: T_co = field(repr=False)
    _setting: CallSetting = field(default=CallSetting(), repr=False)

    @property
    def run_id(self) -> str:
        """
        Id of the run; "" outside one.
        """
        return self._setting.run_id

    @property
    def call_id(self) -> str:
        """
        Id of this call, unique in its conversation.
        """
        return self._setting.call_id

    @property
    def idempotency_key(self) -> str:
        """
        The same for every start of this call, and for no other call.
        """
        return self._setting.idempotency_key

    @property
    def origin(self) -> Origin:
        """
        Who the run is for.
        """
        return self._setting.origin

    @property
    def deadline(self) -> datetime | None:
        """
        When the run's time for work is over, in UTC; None when it is unlimited.
        """
        return self._setting.deadline

    @property
    def attempt(self) -> int:
        """
        Which start of this call this is; more than 1 only after a crash.
        """
        return self._setting.attempt

    def cancel(self, reason: str) -> None:
        """
        Ask the whole run to stop, from any thread; this call is then stopped like every other.
        """
        self._setting.cancel(reason)


def is_context(annotation: object) -> bool:
    """
    Whether a resolved type is `Context`, alone, annotated, aliased or beside None.
    """
    annotation = getattr(annotation, "__value__", annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        return is_context(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return all(is_context(each) for each in get_args(annotation) if each is not types.NoneType)
    kind = origin or annotation
    return isinstance(kind, type) and issubclass(kind, Context)
