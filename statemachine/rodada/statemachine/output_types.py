"""
A type of the host's as the type of an answer, by pydantic. Imported on first use: most loops ask for no type, and
pydantic takes longer to import than all of the core.
"""

from collections.abc import Iterator
from typing import Any, cast

from attrs import field, frozen
from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import CallSchema

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonObject, JsonValue, clean_text, dump_json, parse_json, parse_object
from rodada.statemachine.output import Fits, Misfit, Reading

WHAT = "output_type"
TAKES = "it takes a pydantic model, a dataclass, a TypedDict, or another type that is a JSON object"
DEFINED = "#/$defs/"
LONGEST_REASON = 200
LONGEST_PLACE = 80
PROBLEMS_TOLD = 3
# Models that are only told of the type, and not held to it, like to put their JSON between two such lines.
FENCE, FENCES = "```", frozenset({"```", "```json"})


class PlainSchema(GenerateJsonSchema):
    """
    JSON Schema without the titles that only repeat names, and without a warning for what cannot stand in it.
    """

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic's own form

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def call_schema(self, schema: CallSchema) -> JsonSchemaValue:
        """
        Of a named tuple; a function pydantic would call with what the model said.
        """
        called = schema["function"]
        if not isinstance(called, type):
            raise TypeError("a function is no type")
        return super().call_schema(schema)


@frozen(eq=False)
class TypedOutput:
    """
    A type of answers; build it with `output_of`.

    Attributes:
        name: of the type.
        schema: JSON text of its JSON Schema, an object at its root.
        adapter: what reads an answer.
        known: names that the schema tells the model.
    """

    name: str
    schema: str
    adapter: TypeAdapter[object] = field(repr=False)
    known: frozenset[str] = field(repr=False)

    def read(self, text: str) -> Reading:
        """
        What a text holds, or why it does not fit; a validator of the host that raises refuses the text.
        """
        said = unframed(text)
        value = parse_object(said) if said.strip() else None
        if value is None:
            return Misfit(f"no {self.name}: the answer is no JSON object")
        try:
            return Fits(self.adapter.validate_json(clean_text(dump_json(value))))
        except ValidationError as error:
            return Misfit(f"no {self.name}: {'; '.join(self._problems(error))}")
        except Exception as error:  # noqa: BLE001 - a validator of the host may raise anything
            return Misfit(f"no {self.name}: checking it raised {type(error).__name__}")

    def _problems(self, error: ValidationError) -> Iterator[str]:
        # Places and kinds alone: messages quote what the model wrote, and so do names that it made up.
        found = error.errors(include_url=False, include_context=False, include_input=False)
        for problem in found[:PROBLEMS_TOLD]:
            place = ".".join(str(each) if self._is_ours(each) else "?" for each in problem["loc"])
            yield f"{place[:LONGEST_PLACE]}: {problem['type']}" if place else problem["type"]
        if len(found) > PROBLEMS_TOLD:
            yield f"and {len(found) - PROBLEMS_TOLD} more"

    def _is_ours(self, place: int | str) -> bool:
        return isinstance(place, int) or place in self.known


def output_of(kind: object) -> TypedOutput:
    """
    A type as the type of answers.

    Raises:
        InvalidValue: pydantic does not take it, or it is no JSON object: every vendor wants one.
    """
    name = str(getattr(kind, "__name__", kind))[:LONGEST_PLACE]
    try:
        adapter: TypeAdapter[object] = TypeAdapter(cast("type[object]", kind))
        made: dict[str, Any] = adapter.json_schema(schema_generator=PlainSchema)
        schema = parse_json(clean_text(dump_json(made)))
    except Exception as error:  # noqa: BLE001 - a type's own schema code may raise anything
        told = f"{type(error).__name__}: {error!s:.{LONGEST_REASON}}"
        raise InvalidValue(WHAT, f"no JSON can stand for {name} ({told}); {TAKES}") from None
    rooted = _rooted(schema if isinstance(schema, dict) else {})
    if rooted.get("type") != "object":
        raise InvalidValue(WHAT, f"{name} is no JSON object, which every vendor wants of an answer; {TAKES}")
    return TypedOutput(name, dump_json(rooted), adapter, frozenset(_names(rooted)))


def unframed(text: str) -> str:
    """
    The JSON within the two lines of a code fence; a text without them is itself.
    """
    # No pattern: each that allows blanks around both lines takes the cube of the time over many blank lines.
    first, _, rest = text.strip().partition("\n")
    within, _, last = rest.rpartition("\n")
    return within if first.rstrip() in FENCES and last.strip() == FENCE else text


def _rooted(schema: JsonObject) -> JsonObject:
    """
    The schema with a definition in the place of a root that only refers to it, as that of a type does that holds
    itself.
    """
    reference, definitions = schema.get("$ref"), schema.get("$defs")
    if not isinstance(reference, str) or not isinstance(definitions, dict):
        return schema
    found = definitions.get(reference.removeprefix(DEFINED))
    return {"$defs": definitions, **found} if isinstance(found, dict) else schema


def _names(schema: JsonValue) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from _names(each)
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for inner in schema.values():
            yield from _names(inner)
