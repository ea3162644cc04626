"""
`adopt`: the tool list of an existing loop becomes tools, whatever vendor it was written for.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from pydantic_core import PydanticSerializationError, to_jsonable_python

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonObject, JsonValue, clean_text, dump_json, parse_object
from rodada.statemachine.request import ToolDeclaration
from rodada.tools.decorator import Tool
from rodada.tools.definitions import defined_place, legal_name
from rodada.tools.errors import ToolDefinitionError
from rodada.tools.json_schema import schema_arguments
from rodada.tools.openapi import json_schema
from rodada.tools.options import ToolOptions, options_of
from rodada.tools.signatures import Contexts, split_signature

AnyFunction: TypeAlias = Callable[..., Any]

NOTHING: JsonObject = {"type": "object", "properties": {}}
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
NO_OPTIONS: Mapping[str, ToolOptions] = {}
VARIOUS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def adopt(
    declarations: Iterable[object],
    functions: Mapping[str, AnyFunction],
    options: Mapping[str, ToolOptions] = NO_OPTIONS,
) -> tuple[Tool[..., Any], ...]:
    """
    The tools of a list that a loop already sends, in its order. Schemas are sent as they stand, and what a model
    sends is checked against them; the functions need no annotations. A parameter of type `Context[T]` is filled in.

    Args:
        declarations: as Anthropic (`input_schema`), OpenAI Responses (`parameters`), OpenAI Chat (`function`) or
            Gemini (`functionDeclarations`, or single ones) takes them; dicts or objects of the vendor's SDK. Names,
            descriptions and schemas are taken over; what else stands there (`strict`, `cache_control`) is not.
        functions: the function of each name.
        options: what `@tool` would be told, for the names that need it: `{"read_log": {"reads": "training log"}}`.

    Raises:
        ToolDefinitionError: a declaration of no known form, without its function or with one that does not fit it;
            a function or options without a declaration; a wrong option; two of one name; or the extra `jsonschema` is
            not there.
    """
    found = [each for at, given in enumerate(declarations) for each in _declared(f"declarations[{at}]", given)]
    _check_names([declaration.name for declaration in found], functions, options)
    return tuple(_adopted(each, functions[each.name], options.get(each.name, {})) for each in found)


def _check_names(names: list[str], functions: Mapping[str, AnyFunction], options: Mapping[str, ToolOptions]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ToolDefinitionError(f"declaration {name!r}", "another one has the same name")
        if name not in functions:
            raise ToolDefinitionError(f"declaration {name!r}", "functions has no function of that name")
    for name in functions:
        if name not in names:
            raise ToolDefinitionError(f"functions[{name!r}]", "no declaration has that name")
    for name in options:
        if name not in names:
            raise ToolDefinitionError(f"options[{name!r}]", "no declaration has that name")


def _adopted(declaration: ToolDeclaration, function: AnyFunction, options: ToolOptions) -> Tool[..., Any]:
    place = defined_place(function)
    contexts, others = split_signature(function, {})
    schema = declaration.schema_object
    takes_more = any(each.kind is each.VAR_KEYWORD for each in others)
    told = _properties(schema)
    hidden = {*contexts.named, *(each.name for each in others)} - told
    arguments = schema_arguments(place, schema, takes_more=takes_more, hidden=hidden)
    _check_fit(place, told, contexts, others, takes_more)
    return Tool(declaration, function, arguments, options_of(place, function, options), contexts)


def _check_fit(
    place: str, told: set[str], contexts: Contexts, others: tuple[inspect.Parameter, ...], takes_more: bool
) -> None:
    taken = {each.name for each in others if each.kind in BY_NAME}
    for name in sorted(told):
        if name in contexts.named or not (takes_more or name in taken):
            raise ToolDefinitionError(
                place, "its declaration tells the model of it, but the function cannot take it", name
            )
    for each in others:
        if each.default is each.empty and each.kind not in VARIOUS and each.name not in told:
            way_out = "its declaration does not tell the model of it: give it a default, or bind it with a partial"
            raise ToolDefinitionError(place, way_out, each.name)


def _properties(schema: JsonObject) -> set[str]:
    properties = schema.get("properties")
    return set(properties) if isinstance(properties, dict) else set()


# The four forms


def _declared(place: str, given: object) -> Iterator[ToolDeclaration]:
    match _plain(place, given):
        case {"functionDeclarations": list(several)} | {"function_declarations": list(several)}:
            for at, each in enumerate(several):
                yield from _declared(f"{place}.functionDeclarations[{at}]", each)
        case {"type": "function", "function": dict(inner)} if "name" in inner:
            yield _declaration(place, inner["name"], inner, inner.get("parameters"))
        case {"type": "function", "name": name, **rest}:
            yield _declaration(place, name, rest, rest.get("parameters"))
        case {"name": name, "input_schema": schema, **rest} if rest.get("type") in (None, "custom"):
            yield _declaration(place, name, rest, schema)
        case {"name": name, **rest} if "type" not in rest:
            yield _declaration(place, name, rest, _of_gemini(rest))
        case _:
            raise ToolDefinitionError(
                place,
                f"{given!r:.80} has the form of no vendor's function: a tool of the vendor's server stays with it",
            )


def _plain(place: str, given: object) -> JsonObject:
    # Objects of the vendors' SDKs are pydantic models, and may stand inside dicts.
    try:
        plain = to_jsonable_python(given, by_alias=True, exclude_none=True)
        return parse_object(clean_text(dump_json(plain))) or {}
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise ToolDefinitionError(place, f"it is no JSON: {error!s:.200}") from None


def _of_gemini(declaration: JsonObject) -> JsonValue:
    for key in ("parametersJsonSchema", "parameters_json_schema"):
        if declaration.get(key) is not None:
            return declaration[key]
    return json_schema(declaration.get("parameters"))


def _declaration(place: str, name: JsonValue, rest: JsonObject, schema: JsonValue) -> ToolDeclaration:
    description = rest.get("description")
    try:
        return ToolDeclaration(
            legal_name(place, name),
            description if isinstance(description, str) else "",
            dump_json(schema or NOTHING),
        )
    except InvalidValue as error:
        raise ToolDefinitionError(place, f"{error!s:.200}") from None
