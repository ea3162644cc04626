"""
Every kind of signature that people write, each with what a model might send and what the function then gets.
"""

import dataclasses
import functools
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Optional, TypeVar
from uuid import UUID

import attrs
from annotated_types import Ge, Len, MaxLen
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypeAliasType, TypedDict

T = TypeVar("T")


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Item(BaseModel):
    """An item of an order."""

    name: str
    count: int = 1


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    x: int
    y: int


class Tree(BaseModel):
    name: str
    children: "list[Tree]" = []


class Chain(BaseModel):
    links: "list[Chain]"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Place(TypedDict):
    city: str
    zip: NotRequired[str]


class Pair(NamedTuple):
    a: int
    b: str


@attrs.frozen
class Goal:
    """A goal of training."""

    exercise: str
    _kg: float = attrs.field(default=20.0, validator=attrs.validators.gt(0))
    steps: "list[Goal]" = attrs.Factory(lambda: list[Goal]())
    made: str = attrs.field(init=False, default="here")


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    age: int


@attrs.frozen
class Range(Generic[T]):
    low: T
    high: T | None = None


def in_grams(kg: float) -> int:
    return round(kg * 1000)


@attrs.frozen
class Weight:
    grams: int = attrs.field(converter=in_grams, alias="kg")
    tare: int = attrs.field(default=0, converter=int)
    note: str | None = attrs.field(default=None, converter=attrs.converters.optional(str))


class Page(BaseModel, Generic[T]):
    items: list[T]


class Mixed(Enum):
    TEXT = "a"
    NUMBER = 2
    NOTHING = None


class Folder(typing.TypedDict):
    """Files that hold files."""

    name: str
    inner: "NotRequired[list[Folder]]"
    range: NotRequired[Range[int]]


class Partial(typing.TypedDict, total=False):
    key: typing.Required[str]
    note: str


@dataclasses.dataclass
class Basket:
    items: list[str] = dataclasses.field(default_factory=list[str])


UserId = NewType("UserId", int)
Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | None")


class Service:
    async def __call__(self, a: int) -> object:
        return a


def timed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: object, **kwargs: object) -> object:
        return function(*args, **kwargs)

    return inner


class Method:
    def method(self, a: int) -> object:
        return a

    @classmethod
    def of_class(cls, a: int) -> object:
        return a


def nothing() -> None: ...
def plain(a: int, b: str, c: float, d: bool) -> None: ...
def default(a: int, b: int = 3) -> None: ...
def optional(a: int | None) -> None: ...
def optional_with_default(a: Optional[int] = None) -> None: ...  # noqa: UP045
def literal(a: Literal["x", "y"], b: Literal[3] = 3) -> None: ...
def enums(a: Size, b: Level) -> None: ...
def union(a: int | str | list[int]) -> None: ...
def tagged(a: Annotated[Cat | Dog, Field(discriminator="kind")]) -> None: ...
def model(a: Item) -> None: ...
def closed(a: Closed) -> None: ...
def models(a: list[Item], b: dict[str, Item]) -> None: ...
def of_dataclass(a: Point) -> None: ...
def typed_dict(a: Place) -> None: ...
def named_tuple(a: Pair) -> None: ...
def of_attrs(a: Goal, b: "Mapping[str, Sequence[Goal]] | None" = None) -> None: ...
def attrs_union(a: Goal | Point | int) -> None: ...
def recursive(a: Tree) -> None: ...
def recursive_required(a: Chain | None) -> None: ...
def times(a: date, b: datetime, c: time, d: timedelta) -> None: ...
def scalars(a: Decimal, b: UUID, c: bytes) -> None: ...
def collections(a: list[int], b: set[str], c: tuple[int, str], d: dict[str, float], e: Sequence[int]) -> None: ...
def constrained(a: Annotated[int, Field(ge=1, le=9)], b: Annotated[str, MaxLen(3)]) -> None: ...
def annotated(a: Annotated[list[Annotated[int, Ge(0)]], Len(1, 2), "a note"]) -> None: ...
def patterned(a: Annotated[str, StringConstraints(pattern="^[a-z]+$")]) -> None: ...
def described(
    a: Annotated[int, Field(description="how many")], b: "Annotated[Item, Field(description='what')]"
) -> None: ...
def keyword_only(*, a: int, b: str = "x") -> None: ...
def anything(a: Any, b: object = None) -> None: ...
def partly(a: int, b: int, c: int = 1) -> None: ...
async def in_async(a: int) -> None: ...
def generic(a: Page[int], b: Range[float]) -> None: ...
def mixed(a: Mixed, b: Literal[Size.SMALL, Level.HIGH], c: UserId) -> None: ...
def old_typed_dict(a: Folder, b: Partial) -> None: ...
def made(a: Basket, b: Weight) -> None: ...
def alias(a: Json) -> None: ...
def places(a: Path, b: IPv4Address = IPv4Address("10.0.0.1"), c: timedelta = timedelta(minutes=5)) -> None: ...
def keyed(a: dict[int, str], b: dict[Size, int]) -> None: ...
def named_like_pydantic(self: int, model_config: str, json: str, class_: str) -> None: ...


@timed
def wrapped(a: int, b: str = "x") -> None: ...


@attrs.frozen(kw_only=True)
class Row:
    """
    One signature.

    Attributes:
        function: what becomes a tool.
        sent: arguments as a model may send them.
        got: what the function gets; a default is not among it.
    """

    function: Callable[..., Any]
    sent: Mapping[str, Any]
    got: Mapping[str, Any]


def row(function: Callable[..., Any], sent: Mapping[str, Any], got: Mapping[str, Any] | None = None) -> Row:
    return Row(function=function, sent=sent, got=sent if got is None else got)


ID = UUID(int=1)

ROWS: Mapping[str, Row] = {
    "nothing": row(nothing, {}),
    "plain": row(plain, {"a": 1, "b": "x", "c": 0.5, "d": True}),
    "default": row(default, {"a": 1}),
    "optional": row(optional, {"a": None}),
    "optional_with_default": row(optional_with_default, {"a": None}),
    "literal": row(literal, {"a": "y", "b": 3}),
    "enums": row(enums, {"a": "s", "b": 2}, {"a": Size.SMALL, "b": Level.HIGH}),
    "union": row(union, {"a": [1, 2]}),
    "tagged": row(tagged, {"a": {"kind": "dog", "age": 3}}, {"a": Dog(kind="dog", age=3)}),
    "model": row(model, {"a": {"name": "n"}}, {"a": Item(name="n")}),
    "closed": row(closed, {"a": {"x": 1, "y": 2}}, {"a": Closed(x=1, y=2)}),
    "models": row(
        models,
        {"a": [{"name": "n", "count": 2}], "b": {"k": {"name": "m"}}},
        {"a": [Item(name="n", count=2)], "b": {"k": Item(name="m")}},
    ),
    "of_dataclass": row(of_dataclass, {"a": {"x": 1}}, {"a": Point(1)}),
    "typed_dict": row(typed_dict, {"a": {"city": "Faro"}}),
    "named_tuple": row(named_tuple, {"a": [1, "x"]}, {"a": Pair(1, "x")}),
    "of_attrs": row(
        of_attrs,
        {"a": {"exercise": "squat", "steps": [{"exercise": "lunge", "kg": 5}]}, "b": {"k": [{"exercise": "row"}]}},
        {"a": Goal("squat", steps=[Goal("lunge", 5.0)]), "b": {"k": [Goal("row")]}},
    ),
    "attrs_union": row(attrs_union, {"a": {"exercise": "squat"}}, {"a": Goal("squat")}),
    "recursive": row(
        recursive,
        {"a": {"name": "r", "children": [{"name": "s"}]}},
        {"a": Tree(name="r", children=[Tree(name="s")])},
    ),
    "recursive_required": row(
        recursive_required, {"a": {"links": [{"links": []}]}}, {"a": Chain(links=[Chain(links=[])])}
    ),
    "times": row(
        times,
        {"a": "2026-01-02", "b": "2026-01-02T03:04:05Z", "c": "03:04", "d": "PT90S"},
        {
            "a": date(2026, 1, 2),
            "b": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            "c": time(3, 4),
            "d": timedelta(seconds=90),
        },
    ),
    "scalars": row(scalars, {"a": "1.10", "b": str(ID), "c": "ã"}, {"a": Decimal("1.10"), "b": ID, "c": "ã".encode()}),
    "collections": row(
        collections,
        {"a": [1], "b": ["x", "x"], "c": [1, "x"], "d": {"k": 1}, "e": [2]},
        {"a": [1], "b": {"x"}, "c": (1, "x"), "d": {"k": 1.0}, "e": [2]},
    ),
    "constrained": row(constrained, {"a": 9, "b": "abc"}),
    "annotated": row(annotated, {"a": [0, 1]}),
    "patterned": row(patterned, {"a": "abc"}),
    "described": row(described, {"a": 1, "b": {"name": "n"}}, {"a": 1, "b": Item(name="n")}),
    "keyword_only": row(keyword_only, {"a": 1, "b": "y"}),
    "anything": row(anything, {"a": {"k": [None]}}),
    "partly": row(functools.partial(partly, 1, c=2), {"b": 3}),
    "method": row(Method().method, {"a": 1}),
    "of_class": row(Method.of_class, {"a": 1}),
    "in_async": row(in_async, {"a": 1}),
    "generic": row(generic, {"a": {"items": [1]}, "b": {"low": 1}}, {"a": Page[int](items=[1]), "b": Range(1.0)}),
    "mixed": row(mixed, {"a": None, "b": "s", "c": 3}, {"a": Mixed.NOTHING, "b": Size.SMALL, "c": 3}),
    "old_typed_dict": row(
        old_typed_dict,
        {"a": {"name": "a", "inner": [{"name": "b", "range": {"low": 1}}]}, "b": {"key": "k"}},
        {"a": {"name": "a", "inner": [{"name": "b", "range": Range(1)}]}, "b": {"key": "k"}},
    ),
    "made": row(made, {"a": {}, "b": {"kg": 2.5}}, {"a": Basket(), "b": Weight(2.5)}),
    "alias": row(alias, {"a": {"x": [1, None, {"y": "z"}]}}),
    "places": row(places, {"a": "/tmp/x", "c": "PT1M"}, {"a": Path("/tmp/x"), "c": timedelta(minutes=1)}),
    "keyed": row(keyed, {"a": {"1": "x"}, "b": {"s": 2}}, {"a": {1: "x"}, "b": {Size.SMALL: 2}}),
    "named_like_pydantic": row(named_like_pydantic, {"self": 1, "model_config": "a", "json": "b", "class_": "c"}),
    "wrapped": row(wrapped, {"a": 1}),
    "callable": row(Service(), {"a": 1}),
    "of_lambda": row(lambda: None, {}),
}
