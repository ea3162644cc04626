"""
The arguments of a tool: one pydantic model made from its parameters gives the schema and checks what a model sends.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from attrs import frozen
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails, PydanticSerializationError

from rodada.statemachine.jsontext import DEEPEST, JsonError, JsonObject, clean_text, dump_json, parse_json
from rodada.statemachine.messages import ToolRequest
from rodada.statemachine.output_types import PlainSchema
from rodada.tools.argument_forms import Forms, form_field
from rodada.tools.errors import ToolDefinitionError
from rodada.tools.signatures import Parameter
from rodada.tools.value_text import LET_THROUGH, error_name

PREVIEW = 100
LONGEST_PATH = 60
LONGEST_REASON = 200
LONGEST_OWN_REASON = 120
LONGEST_SUMMARY = 600
PROBLEMS_TOLD = 3

NO_NAMES: Mapping[str, object] = {}

Arguments: TypeAlias = dict[str, object]


@frozen
class Refusal:
    """
    Why arguments were refused, for the model to mend; it quotes at most about 200 characters of what was sent.
    """

    text: str


class Checks(Protocol):
    """
    Checks the arguments of a tool.
    """

    def check(self, request: ToolRequest) -> Arguments | Refusal:
        """
        The arguments that the function is called with, or why they are refused.
        """
        ...


class _Schema(PlainSchema):
    # The items of a named tuple keep their names as titles: nothing else tells what stands where. One method is asked
    # from pydantic 2.13 on, the other before.

    def named_tuple_schema(self, schema: Any) -> Any:
        return _with_names(super().named_tuple_schema(schema), schema["fields"])

    def p_arguments_schema(self, arguments: Any, var_args_schema: Any) -> Any:
        return _with_names(super().p_arguments_schema(arguments, var_args_schema), arguments)

    def encode_default(self, dft: Any) -> Any:
        plain = super().encode_default(dft)
        try:
            dump_json(plain)
        except ValueError:
            # pydantic then leaves the default out of the schema, as it does with one that it cannot serialise
            raise PydanticSerializationError("NaN and infinities are no JSON") from None
        return plain


def _with_names(row: dict[str, Any], fields: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    for item, field in zip(row.get("prefixItems", ()), fields, strict=False):
        item.setdefault("title", field["name"])
    return row


@frozen(eq=False)
class ArgumentModel:
    """
    Checks arguments; build it with `argument_model`.

    Attributes:
        model: its fields have made-up names and the parameters' names as aliases, so that no parameter's name can
            clash with an attribute of pydantic's.
        names: parameter name of each field.
        optional: names of the parameters that have a default.
        schema: JSON text of the JSON Schema.
    """

    model: type[BaseModel]
    names: Mapping[str, str]
    optional: frozenset[str]
    schema: str

    def check(self, request: ToolRequest) -> Arguments | Refusal:
        """
        The arguments that the function is called with, in its order; a default stays the function's own.
        """
        try:
            sent = request.arguments
            return Refusal(no_object(request.raw)) if sent is None else self._checked(sent)
        except LET_THROUGH:
            raise
        except BaseException as error:  # noqa: BLE001 - a validator of the host may raise anything
            return Refusal(f"checking them raised {error_name(error)}")

    def _checked(self, sent: JsonObject) -> Arguments | Refusal:
        try:
            return self._validated(sent)
        except ValidationError as error:
            kept = self._without_nulls(sent, error)
            problem = error
        if len(kept) == len(sent):
            return self._refusal(problem)
        try:
            return self._validated(kept)
        except ValidationError as error:
            return self._refusal(error)

    def _validated(self, sent: JsonObject) -> Arguments:
        checked = self.model.model_validate_json(clean_text(dump_json(sent)))
        given = checked.model_fields_set
        return {name: checked.__dict__[field] for field, name in self.names.items() if field in given}

    def _without_nulls(self, sent: JsonObject, error: ValidationError) -> JsonObject:
        refused = {problem["loc"][0] for problem in _problems(error) if problem["loc"]}
        return {
            name: value
            for name, value in sent.items()
            if not (value is None and name in self.optional and name in refused)
        }

    def _refusal(self, error: ValidationError) -> Refusal:
        return refusal_of([_line(problem) for problem in _problems(error)], self.schema)


def argument_model(
    name: str, place: str, parameters: Iterable[Parameter], names: Mapping[str, object] = NO_NAMES
) -> ArgumentModel:
    """
    The model of some parameters; `names` are the local names known where their classes were written.

    Raises:
        ToolDefinitionError: no JSON can stand for a parameter's type.
    """
    given = tuple(parameters)
    try:
        return _argument_model(name, given, names)
    except Exception as error:  # noqa: BLE001 - a type's own schema code may raise anything
        for each in given:
            _check_alone(place, each, names)
        raise ToolDefinitionError(place, f"{type(error).__name__}: {error!s:.{LONGEST_REASON}}") from None


def _check_alone(place: str, parameter: Parameter, names: Mapping[str, object]) -> None:
    try:
        _argument_model("one", (parameter,), names)
    except Exception as error:  # noqa: BLE001 - as above
        reason = f"no JSON can stand for its type ({error!s:.{LONGEST_REASON}}): take one that pydantic knows"
        raise ToolDefinitionError(place, reason, parameter.name) from None


def _argument_model(name: str, parameters: tuple[Parameter, ...], names: Mapping[str, object]) -> ArgumentModel:
    forms = Forms(names)
    fields: dict[str, Any] = {
        f"p{at}": (forms.of(each.annotation), form_field(each.name, {"default": each.default} if each.optional else {}))
        for at, each in enumerate(parameters)
    }
    config = ConfigDict(extra="forbid", allow_inf_nan=False)
    model: type[BaseModel] = create_model(name, __config__=config, **fields)
    model.model_rebuild(_types_namespace=forms.namespace)
    schema = model.model_json_schema(schema_generator=_Schema)
    schema.pop("title", None)
    for each in parameters:
        if each.description:
            schema["properties"][each.name].setdefault("description", each.description)
    return ArgumentModel(
        model,
        {f"p{at}": each.name for at, each in enumerate(parameters)},
        frozenset(each.name for each in parameters if each.optional),
        clean_text(dump_json(schema)),
    )


def _problems(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_input=False)


def _line(problem: ErrorDetails) -> str:
    path = ".".join(str(part) for part in problem["loc"])[:LONGEST_PATH] or "arguments"
    match problem["type"]:
        case "missing":
            return f"{path}: is required"
        case "extra_forbidden":
            return f"{path}: is no argument of this tool"
        case "value_error" | "assertion_error":
            return f"{path}: {problem['msg'][:LONGEST_OWN_REASON]}"
        case "union_tag_invalid":
            return f"{path}: its tag is none of {problem.get('ctx', {}).get('expected_tags')!s:.{LONGEST_REASON}}"
        case _:
            return f"{path}: {problem['msg'][:LONGEST_REASON]}"


def refusal_of(problems: list[str], schema: str) -> Refusal:
    """
    The refusal that names the first problems, and what the tool takes.
    """
    told = problems[:PROBLEMS_TOLD]
    if len(problems) > PROBLEMS_TOLD:
        told.append(f"and {len(problems) - PROBLEMS_TOLD} more")
    return Refusal("; ".join(told) + f". {_summary(schema)}")


def _summary(schema: str) -> str:
    """
    What a tool takes, for a model that sent something else.
    """
    read: dict[str, Any] = json.loads(schema)
    required = read.get("required", ())
    named: Mapping[str, Any] = {f"#/$defs/{name}": each for name, each in read.get("$defs", {}).items()}
    told = [
        f"{name}: {_type_name(each, named)}{'' if name in required else ' (optional)'}"
        for name, each in read.get("properties", {}).items()
    ]
    return f"It takes {', '.join(told) or 'no arguments'}"[:LONGEST_SUMMARY]


def no_object(raw: str) -> str:
    """
    What is wrong with a text that is no JSON object, or one that no wire takes.
    """
    try:
        value = parse_json(raw)
    except JsonError as error:
        found = f"they are no JSON ({error!s:.{LONGEST_REASON}})"
    else:
        deep = isinstance(value, dict)
        found = (
            f"they are nested more than {DEEPEST} levels deep"
            if deep
            else f"they are {_kind(value)}, not a JSON object"
        )
    return f"{found}; {len(raw)} characters came, beginning with {raw[:PREVIEW]!r}. Send one JSON object"


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "a number"


def _type_name(schema: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    match schema:
        case {"type": str(name)}:
            return name
        case {"type": [*names]}:
            return " or ".join(map(str, names))
        case {"enum": [*_]}:
            return "one of a list"
        case {"anyOf": [*choices]}:
            return " or ".join(_type_name(choice, named) for choice in choices)
        case {"$ref": str(name)} if name in named:
            return _type_name(named[name], {})  # no further: types may hold one another
        case _:
            return "any value"
