"""
Arguments checked against a JSON Schema that somebody else wrote, by the library `jsonschema`.
"""

from collections.abc import Iterable, Set
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, cast

from attrs import field, frozen

from rodada.statemachine.jsontext import JsonObject, JsonValue, clean_text, dump_json, parse_object
from rodada.statemachine.messages import ToolRequest
from rodada.tools.arguments import LONGEST_PATH, LONGEST_REASON, Arguments, Refusal, no_object, refusal_of
from rodada.tools.bounded_checks import BoundedChecks
from rodada.tools.errors import ToolDefinitionError
from rodada.tools.schema_keywords import with_own_keywords
from rodada.tools.value_text import LET_THROUGH, error_name

if TYPE_CHECKING:
    from jsonschema import ValidationError

MOST_PROBLEMS = 100


class Validator(Protocol):
    """
    A schema that is ready to check values.
    """

    def iter_errors(self, instance: JsonValue) -> "Iterable[ValidationError]":
        """
        Everything that is wrong with a value.
        """
        ...


@frozen(eq=False)
class SchemaArguments:
    """
    Checks arguments; build it with `schema_arguments`.

    Attributes:
        schema: JSON text of the JSON Schema.
        validator: the schema, ready to check.
        properties: names that the schema tells the model.
        required: those that must be sent.
        takes_more: whether other names may be sent too, where the schema allows them.
        hidden: names that no model may send.
    """

    schema: str
    validator: Validator = field(repr=False)
    properties: Set[str]
    required: Set[str]
    takes_more: bool
    hidden: Set[str]

    def check(self, request: ToolRequest) -> Arguments | Refusal:
        """
        The arguments as they were sent; a null that the schema refuses counts as absent where it may be.
        """
        try:
            sent = request.arguments
            return Refusal(no_object(request.raw)) if sent is None else self._checked(_clean(sent))
        except LET_THROUGH:
            raise
        except BaseException as error:  # noqa: BLE001 - such as a reference that leads nowhere
            return Refusal(f"checking them raised {error_name(error)}")

    def _checked(self, sent: JsonObject) -> Arguments | Refusal:
        problems = self._problems(sent)
        kept = self._without_nulls(sent)
        if problems and len(kept) < len(sent):
            sent, problems = kept, self._problems(kept)
        return refusal_of(problems, self.schema) if problems else dict(sent)

    def _problems(self, sent: JsonObject) -> list[str]:
        unknown = [name for name in sent if self._is_unknown(name)]
        errors = islice(self.validator.iter_errors(sent), MOST_PROBLEMS)
        return [
            *(f"{name[:LONGEST_PATH]}: is no argument of this tool" for name in unknown),
            *(_line(error) for error in errors if not (unknown and error.validator == "additionalProperties")),
        ]

    def _is_unknown(self, name: str) -> bool:
        return name in self.hidden or not (self.takes_more or name in self.properties)

    def _without_nulls(self, sent: JsonObject) -> JsonObject:
        refused = {error.absolute_path[0] for error in self.validator.iter_errors(sent) if error.absolute_path}
        return {
            name: value
            for name, value in sent.items()
            if not (value is None and name in refused and name not in self.required)
        }


def schema_arguments(
    place: str,
    schema: JsonObject,
    *,
    takes_more: bool = True,
    hidden: Iterable[str] = (),
    by_stranger: bool = False,
) -> SchemaArguments:
    """
    The check of a schema. Its references are followed inside it alone: nothing is ever fetched. One that was written
    by a stranger is checked within bounds.

    Raises:
        ToolDefinitionError: it is no JSON Schema, or the library is not there.
    """
    properties, required = schema.get("properties"), schema.get("required")
    return SchemaArguments(
        dump_json(schema),
        _validator(place, schema, by_stranger),
        frozenset(properties if isinstance(properties, dict) else ()),
        frozenset(map(str, required) if isinstance(required, list) else ()),
        takes_more,
        frozenset(hidden),
    )


def _validator(place: str, schema: JsonObject, by_stranger: bool) -> Validator:
    try:
        from jsonschema import Draft202012Validator, SchemaError
        from jsonschema.validators import validator_for
        from referencing import Registry
    except ImportError:
        way_out = "checking its arguments needs the package jsonschema: pip install 'rodada[jsonschema]'"
        raise ToolDefinitionError(place, way_out) from None
    try:
        kind = validator_for(schema, Draft202012Validator)
        kind.check_schema(schema)
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path)) or "its root"
        raise ToolDefinitionError(place, f"its schema is none ({where}: {error.message[:LONGEST_REASON]})") from None
    except Exception as error:  # noqa: BLE001 - such as a `$schema` that is no text, or no address
        raise ToolDefinitionError(place, f"its schema is none (reading it raised {error_name(error)})") from None
    nothing: Registry[Any] = Registry()
    own = with_own_keywords(kind)
    return BoundedChecks(own, schema, nothing) if by_stranger else own(schema, registry=nothing)


def _clean(sent: JsonObject) -> JsonObject:
    return parse_object(clean_text(dump_json(sent))) or {}


def _line(error: "ValidationError") -> str:
    path = ".".join(map(str, error.absolute_path))[:LONGEST_PATH] or "arguments"
    wanted = cast(JsonValue, error.validator_value)
    match error.validator:
        case "type":
            return f"{path}: should be of type {' or '.join(map(str, wanted)) if isinstance(wanted, list) else wanted}"
        case "required" | "additionalProperties":
            return f"{path}: {error.message[:LONGEST_REASON]}"
        case _:
            return f"{path}: does not fulfil {error.validator} {dump_json(wanted)[:LONGEST_REASON]}"
