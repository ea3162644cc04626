"""
What a function's signature says: its parameters with resolved types, or why it cannot be a tool.
"""

import contextlib
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping

from attrs import frozen
from pydantic.fields import FieldInfo

from rodada.tools.context import is_context
from rodada.tools.errors import ToolDefinitionError

UNTYPED = "it has no type: annotate it"


@frozen
class Parameter:
    """
    One parameter.

    Attributes:
        name: as in the signature.
        annotation: its type, resolved; Annotated kept.
        default: its default value, or `inspect.Parameter.empty`.
        description: what the docstring says of it.
    """

    name: str
    annotation: object
    default: object
    description: str = ""

    @property
    def optional(self) -> bool:
        """
        Whether the signature gives it a default.
        """
        return self.default is not inspect.Parameter.empty


@frozen
class Contexts:
    """
    The parameters that get the call's `Context`.

    Attributes:
        named: their names.
        leading: how many more stand in front that cannot be given by name.
    """

    named: tuple[str, ...] = ()
    leading: int = 0


@frozen
class Signature:
    """
    What a function takes, by whom it is given.

    Attributes:
        parameters: what a model gives, in order.
        contexts: what the engine gives.
    """

    parameters: tuple[Parameter, ...]
    contexts: Contexts = Contexts()


def plain_function(function: Callable[..., object]) -> Callable[..., object]:
    """
    The function behind partials, bound methods and wrappers.
    """
    while True:
        inner = function.func if isinstance(function, functools.partial) else inspect.unwrap(function)
        if inner is function:
            return inner.__func__ if isinstance(inner, types.MethodType) else inner
        function = inner


def place_of(function: Callable[..., object]) -> str:
    """
    Module, qualified name and line of a function.
    """
    plain = plain_function(function)
    name = f"{getattr(plain, '__module__', '?')}.{getattr(plain, '__qualname__', type(plain).__qualname__)}"
    code = getattr(plain, "__code__", None)
    return f"{name} (line {code.co_firstlineno})" if isinstance(code, types.CodeType) else name


def signature_of(function: Callable[..., object], names: Mapping[str, object]) -> Signature:
    """
    What a function takes. String annotations are resolved where the function was written; `names` are the local
    names known there.

    Raises:
        ToolDefinitionError: a parameter has no type, a type that cannot be resolved, or cannot be given by name.
    """
    ours, others = split_signature(function, names)
    return Signature(tuple(_parameter(function, each, names) for each in others), ours)


def split_signature(
    function: Callable[..., object], names: Mapping[str, object]
) -> tuple[Contexts, tuple[inspect.Parameter, ...]]:
    """
    The contexts among the parameters that a caller may still give, and the others as Python tells them.

    Raises:
        ToolDefinitionError: the function has no signature that can be read.
    """
    given = _inspected(function)
    contexts = [each for each in given if _takes_context(function, each, names)]
    leading = [each.name for each in contexts if each.kind is each.POSITIONAL_ONLY]
    named = tuple(each.name for each in contexts if each.name not in leading)
    return Contexts(named, len(leading)), tuple(each for each in given if each not in contexts)


def _inspected(function: Callable[..., object]) -> tuple[inspect.Parameter, ...]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(place_of(function), f"it has no signature that can be read: {error}") from None
    bound = _bound_names(function)
    return tuple(each for each in signature.parameters.values() if each.name not in bound)


def _takes_context(function: Callable[..., object], parameter: inspect.Parameter, names: Mapping[str, object]) -> bool:
    if parameter.annotation is parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return False
    try:
        return is_context(_resolved(function, parameter, names))
    except ToolDefinitionError:
        return False


def _bound_names(function: Callable[..., object]) -> frozenset[str]:
    return frozenset(function.keywords) if isinstance(function, functools.partial) else frozenset()


def _parameter(function: Callable[..., object], parameter: inspect.Parameter, names: Mapping[str, object]) -> Parameter:
    way_out = _nameless(parameter) or _untyped(function, parameter) or _field_default(parameter)
    if way_out:
        raise ToolDefinitionError(place_of(function), way_out, parameter.name)
    return Parameter(parameter.name, _resolved(function, parameter, names), parameter.default)


def _nameless(parameter: inspect.Parameter) -> str:
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL:
            return "a model sends named arguments only: take a list instead of *args"
        case inspect.Parameter.VAR_KEYWORD:
            return "what a model may send must be known: name every parameter, or take one dict, instead of **kwargs"
        case inspect.Parameter.POSITIONAL_ONLY:
            return "a model sends named arguments only: remove the / behind it"
        case _:
            return ""


def _untyped(function: Callable[..., object], parameter: inspect.Parameter) -> str:
    if parameter.annotation is not inspect.Parameter.empty:
        return ""
    if parameter.name in ("self", "cls") and "." in getattr(function, "__qualname__", ""):
        return "a method needs its object: make the tool of the bound method, tool(instance.method)"
    return UNTYPED


def _field_default(parameter: inspect.Parameter) -> str:
    if not isinstance(parameter.default, FieldInfo):
        return ""
    return (
        "a Field(...) as default reaches the function when code calls it: write Annotated[TYPE, Field(...)] = DEFAULT"
    )


def _resolved(function: Callable[..., object], parameter: inspect.Parameter, names: Mapping[str, object]) -> object:
    plain = _written(function)
    holder = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    known = {**getattr(plain, "__globals__", {})}
    local = {**names, **_closure(plain)} if "." in getattr(plain, "__qualname__", "") else {}
    try:
        return typing.get_type_hints(holder, known, local, include_extras=True)[parameter.name]
    except Exception as error:  # noqa: BLE001 - an annotation is code and may raise anything
        told = f"its type {parameter.annotation!r:.100} cannot be resolved in module {plain.__module__}"
        raise ToolDefinitionError(
            place_of(function),
            f"{told} ({type(error).__name__}: {error!s:.100}): import the name there",
            parameter.name,
        ) from None


def _written(function: Callable[..., object]) -> Callable[..., object]:
    plain = plain_function(function)
    by_class: object = getattr(type(plain), "__call__", None)  # noqa: B004 - what the class wrote is wanted
    return by_class if inspect.isfunction(by_class) else plain


def _closure(plain: Callable[..., object]) -> Mapping[str, object]:
    if not isinstance(plain, types.FunctionType):
        return {}
    found: dict[str, object] = {}
    for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True):
        # A variable that the enclosing function sets only later has nothing in its cell yet.
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def is_async(function: Callable[..., object]) -> bool:
    """
    Whether calling it gives something to await.
    """
    by_class = getattr(type(function), "__call__", None)  # noqa: B004 - the function itself is wanted
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(by_class)
