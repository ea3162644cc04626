"""
Signatures: string annotations are resolved where the function was written; what a model cannot give is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field

from rodada.statemachine.messages import Status
from rodada.tools import ToolDefinitionError, tool
from rodada.tools.signatures import Parameter, Signature, place_of, signature_of
from support.tool_calls import told

if TYPE_CHECKING:
    from collections.abc import Sequence as OnlyForCheckers


class Order(BaseModel):
    number: int
    items: list[Item]


class Item(BaseModel):
    name: str


def count(order: Order, least: "int" = 1) -> OnlyForCheckers[int]:  # noqa: UP037
    return [max(least, len(order.items))]


DECLARED = tool(count).declaration


def test_f104_string_annotations_are_resolved_and_a_return_type_is_not_looked_at() -> None:
    assert signature_of(count, {}) == Signature(
        (Parameter("order", Order, inspect.Parameter.empty), Parameter("least", int, 1))
    )
    arguments = '{"order":{"number":1,"items":[{"name":"a"},{"name":"b"}]}}'
    assert told(tool(count), arguments) == (Status.SUCCEEDED, "[2]")


def test_f104_names_of_an_enclosing_function_are_found() -> None:
    class Query(BaseModel):
        words: list[str]

    @tool(reads="")
    def search(query: Query) -> str:
        return " ".join(query.words)

    assert told(search, '{"query":{"words":["a","b"]}}') == (Status.SUCCEEDED, "a b")


def test_f104_a_name_that_the_enclosing_function_sets_only_later_is_no_hindrance() -> None:
    @tool(reads="")
    def search(words: list[str]) -> str:
        return separator.join(words)

    separator = "-"
    assert told(search, '{"words":["a","b"]}') == (Status.SUCCEEDED, "a-b")


def test_f104_a_local_name_does_not_hide_the_name_that_a_function_of_a_module_means() -> None:
    Order = int  # noqa: N806
    assert tool(count).declaration == DECLARED
    assert Order is int


def test_f104_an_unresolvable_name_is_refused_with_parameter_and_module() -> None:
    def f(first: int, rows: OnlyForCheckers[int]) -> None: ...

    with pytest.raises(ToolDefinitionError) as caught:
        tool(f)
    assert caught.value.parameter == "rows"
    assert f"cannot be resolved in module {__name__}" in str(caught.value)
    assert "NameError: name 'OnlyForCheckers' is not defined" in str(caught.value)
    assert caught.value.place == place_of(f)


def rest(x: int, **kw: int) -> None: ...
def several(*xs: int) -> None: ...
def unnamed(a: int, /, b: int) -> None: ...
def untyped(a: int, b) -> None: ...  # type: ignore[no-untyped-def]
def from_field(a: int = Field(default=3)) -> None: ...
def of_a_function(a: Callable[[], int]) -> None: ...
def of_an_object(a: inspect.Signature) -> None: ...


REFUSED: list[tuple[Callable[..., Any], str, str]] = [
    (rest, "kw", "take one dict, instead of **kwargs"),
    (several, "xs", "take a list instead of *args"),
    (unnamed, "a", "remove the /"),
    (untyped, "b", "annotate it"),
    (from_field, "a", "write Annotated[TYPE, Field(...)] = DEFAULT"),
    (of_a_function, "a", "take one that pydantic knows"),
    (of_an_object, "a", "take one that pydantic knows"),
]


@pytest.mark.parametrize(("function", "parameter", "way_out"), REFUSED)
def test_f033_f106_what_a_model_cannot_give_by_name_is_refused(
    function: Callable[..., Any], parameter: str, way_out: str
) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        tool(function)
    assert (caught.value.parameter, caught.value.place) == (parameter, place_of(function))
    assert way_out in str(caught.value)


def test_a_place_names_module_function_and_line() -> None:
    assert place_of(count) == f"{__name__}.count (line {count.__code__.co_firstlineno})"
