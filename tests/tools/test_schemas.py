"""
The schema of every kind of signature that people write, and what the function gets of what a model sends.
"""

import json
from collections.abc import Mapping
from typing import Any, Generic, NewType, NotRequired, TypeVar

import attrs
import pytest
import typing_extensions
from typing_extensions import TypeAliasType

from rodada.statemachine.messages import Status
from rodada.tools import ToolDefinitionError, tool
from rodada.tools.arguments import Refusal
from support.signatures import ROWS
from support.tool_calls import request, told

SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "nothing": {"properties": {}},
    "plain": {
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "string"},
            "c": {"type": "number"},
            "d": {"type": "boolean"},
        },
        "required": ["a", "b", "c", "d"],
    },
    "default": {"properties": {"a": {"type": "integer"}, "b": {"default": 3, "type": "integer"}}, "required": ["a"]},
    "optional": {"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "required": ["a"]},
    "optional_with_default": {"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}}},
    "literal": {
        "properties": {"a": {"enum": ["x", "y"], "type": "string"}, "b": {"const": 3, "default": 3, "type": "integer"}},
        "required": ["a"],
    },
    "enums": {
        "$defs": {
            "Level": {"enum": [1, 2], "title": "Level", "type": "integer"},
            "Size": {"enum": ["s", "l"], "title": "Size", "type": "string"},
        },
        "properties": {"a": {"$ref": "#/$defs/Size"}, "b": {"$ref": "#/$defs/Level"}},
        "required": ["a", "b"],
    },
    "union": {
        "properties": {
            "a": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"items": {"type": "integer"}, "type": "array"}]}
        },
        "required": ["a"],
    },
    "tagged": {
        "$defs": {
            "Cat": {
                "properties": {"kind": {"const": "cat", "type": "string"}},
                "required": ["kind"],
                "title": "Cat",
                "type": "object",
            },
            "Dog": {
                "properties": {"kind": {"const": "dog", "type": "string"}, "age": {"type": "integer"}},
                "required": ["kind", "age"],
                "title": "Dog",
                "type": "object",
            },
        },
        "properties": {
            "a": {
                "discriminator": {"mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}, "propertyName": "kind"},
                "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
            }
        },
        "required": ["a"],
    },
    "model": {
        "$defs": {
            "Item": {
                "description": "An item of an order.",
                "properties": {"name": {"type": "string"}, "count": {"default": 1, "type": "integer"}},
                "required": ["name"],
                "title": "Item",
                "type": "object",
            }
        },
        "properties": {"a": {"$ref": "#/$defs/Item"}},
        "required": ["a"],
    },
    "closed": {
        "$defs": {
            "Closed": {
                "additionalProperties": False,
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                "required": ["x", "y"],
                "title": "Closed",
                "type": "object",
            }
        },
        "properties": {"a": {"$ref": "#/$defs/Closed"}},
        "required": ["a"],
    },
    "models": {
        "$defs": {
            "Item": {
                "description": "An item of an order.",
                "properties": {"name": {"type": "string"}, "count": {"default": 1, "type": "integer"}},
                "required": ["name"],
                "title": "Item",
                "type": "object",
            }
        },
        "properties": {
            "a": {"items": {"$ref": "#/$defs/Item"}, "type": "array"},
            "b": {"additionalProperties": {"$ref": "#/$defs/Item"}, "type": "object"},
        },
        "required": ["a", "b"],
    },
    "of_dataclass": {
        "$defs": {
            "Point": {
                "additionalProperties": False,
                "properties": {"x": {"type": "integer"}, "y": {"default": 0, "type": "integer"}},
                "required": ["x"],
                "title": "Point",
                "type": "object",
            }
        },
        "properties": {"a": {"$ref": "#/$defs/Point"}},
        "required": ["a"],
    },
    "typed_dict": {
        "$defs": {
            "Place": {
                "additionalProperties": False,
                "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
                "required": ["city"],
                "title": "Place",
                "type": "object",
            }
        },
        "properties": {"a": {"$ref": "#/$defs/Place"}},
        "required": ["a"],
    },
    "named_tuple": {
        "$defs": {
            "Pair": {
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [{"title": "a", "type": "integer"}, {"title": "b", "type": "string"}],
                "type": "array",
            }
        },
        "properties": {"a": {"$ref": "#/$defs/Pair"}},
        "required": ["a"],
    },
    "of_attrs": {
        "$defs": {
            "Goal": {
                "additionalProperties": False,
                "description": "A goal of training.",
                "properties": {
                    "exercise": {"type": "string"},
                    "kg": {"default": 20.0, "type": "number"},
                    "steps": {"items": {"$ref": "#/$defs/Goal"}, "type": "array"},
                },
                "required": ["exercise"],
                "title": "Goal",
                "type": "object",
            }
        },
        "properties": {
            "a": {"$ref": "#/$defs/Goal"},
            "b": {
                "anyOf": [
                    {"additionalProperties": {"items": {"$ref": "#/$defs/Goal"}, "type": "array"}, "type": "object"},
                    {"type": "null"},
                ],
                "default": None,
            },
        },
        "required": ["a"],
    },
    "attrs_union": {
        "$defs": {
            "Goal": {
                "additionalProperties": False,
                "description": "A goal of training.",
                "properties": {
                    "exercise": {"type": "string"},
                    "kg": {"default": 20.0, "type": "number"},
                    "steps": {"items": {"$ref": "#/$defs/Goal"}, "type": "array"},
                },
                "required": ["exercise"],
                "title": "Goal",
                "type": "object",
            },
            "Point": {
                "additionalProperties": False,
                "properties": {"x": {"type": "integer"}, "y": {"default": 0, "type": "integer"}},
                "required": ["x"],
                "title": "Point",
                "type": "object",
            },
        },
        "properties": {"a": {"anyOf": [{"$ref": "#/$defs/Goal"}, {"$ref": "#/$defs/Point"}, {"type": "integer"}]}},
        "required": ["a"],
    },
    "recursive": {
        "$defs": {
            "Tree": {
                "properties": {
                    "name": {"type": "string"},
                    "children": {"default": [], "items": {"$ref": "#/$defs/Tree"}, "type": "array"},
                },
                "required": ["name"],
                "title": "Tree",
                "type": "object",
            }
        },
        "properties": {"a": {"$ref": "#/$defs/Tree"}},
        "required": ["a"],
    },
    "recursive_required": {
        "$defs": {
            "Chain": {
                "properties": {"links": {"items": {"$ref": "#/$defs/Chain"}, "type": "array"}},
                "required": ["links"],
                "title": "Chain",
                "type": "object",
            }
        },
        "properties": {"a": {"anyOf": [{"$ref": "#/$defs/Chain"}, {"type": "null"}]}},
        "required": ["a"],
    },
    "times": {
        "properties": {
            "a": {"format": "date", "type": "string"},
            "b": {"format": "date-time", "type": "string"},
            "c": {"format": "time", "type": "string"},
            "d": {"format": "duration", "type": "string"},
        },
        "required": ["a", "b", "c", "d"],
    },
    "scalars": {
        "properties": {
            "a": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            "b": {"format": "uuid", "type": "string"},
            "c": {"format": "binary", "type": "string"},
        },
        "required": ["a", "b", "c"],
    },
    "collections": {
        "properties": {
            "a": {"items": {"type": "integer"}, "type": "array"},
            "b": {"items": {"type": "string"}, "type": "array", "uniqueItems": True},
            "c": {
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "type": "array",
            },
            "d": {"additionalProperties": {"type": "number"}, "type": "object"},
            "e": {"items": {"type": "integer"}, "type": "array"},
        },
        "required": ["a", "b", "c", "d", "e"],
    },
    "constrained": {
        "properties": {"a": {"maximum": 9, "minimum": 1, "type": "integer"}, "b": {"maxLength": 3, "type": "string"}},
        "required": ["a", "b"],
    },
    "annotated": {
        "properties": {
            "a": {"items": {"minimum": 0, "type": "integer"}, "maxItems": 2, "minItems": 1, "type": "array"}
        },
        "required": ["a"],
    },
    "patterned": {"properties": {"a": {"pattern": "^[a-z]+$", "type": "string"}}, "required": ["a"]},
    "described": {
        "$defs": {
            "Item": {
                "description": "An item of an order.",
                "properties": {"name": {"type": "string"}, "count": {"default": 1, "type": "integer"}},
                "required": ["name"],
                "title": "Item",
                "type": "object",
            }
        },
        "properties": {
            "a": {"description": "how many", "type": "integer"},
            "b": {"$ref": "#/$defs/Item", "description": "what"},
        },
        "required": ["a", "b"],
    },
    "keyword_only": {
        "properties": {"a": {"type": "integer"}, "b": {"default": "x", "type": "string"}},
        "required": ["a"],
    },
    "anything": {"properties": {"a": {}, "b": {"default": None}}, "required": ["a"]},
    "partly": {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
    "method": {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "of_class": {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "in_async": {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "generic": {
        "$defs": {
            "Page_int_": {
                "properties": {"items": {"items": {"type": "integer"}, "type": "array"}},
                "required": ["items"],
                "title": "Page[int]",
                "type": "object",
            },
            "Range": {
                "additionalProperties": False,
                "properties": {
                    "low": {"type": "number"},
                    "high": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
                },
                "required": ["low"],
                "title": "Range",
                "type": "object",
            },
        },
        "properties": {"a": {"$ref": "#/$defs/Page_int_"}, "b": {"$ref": "#/$defs/Range"}},
        "required": ["a", "b"],
    },
    "mixed": {
        "$defs": {"Mixed": {"enum": ["a", 2, None], "title": "Mixed"}},
        "properties": {"a": {"$ref": "#/$defs/Mixed"}, "b": {"enum": ["s", 2]}, "c": {"type": "integer"}},
        "required": ["a", "b", "c"],
    },
    "old_typed_dict": {
        "$defs": {
            "Folder": {
                "additionalProperties": False,
                "description": "Files that hold files.",
                "properties": {
                    "name": {"type": "string"},
                    "inner": {"items": {"$ref": "#/$defs/Folder"}, "type": "array"},
                    "range": {"$ref": "#/$defs/Range"},
                },
                "required": ["name"],
                "title": "Folder",
                "type": "object",
            },
            "Partial": {
                "additionalProperties": False,
                "properties": {"key": {"type": "string"}, "note": {"type": "string"}},
                "required": ["key"],
                "title": "Partial",
                "type": "object",
            },
            "Range": {
                "additionalProperties": False,
                "properties": {
                    "low": {"type": "integer"},
                    "high": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                },
                "required": ["low"],
                "title": "Range",
                "type": "object",
            },
        },
        "properties": {"a": {"$ref": "#/$defs/Folder"}, "b": {"$ref": "#/$defs/Partial"}},
        "required": ["a", "b"],
    },
    "made": {
        "$defs": {
            "Basket": {
                "additionalProperties": False,
                "properties": {"items": {"items": {"type": "string"}, "type": "array"}},
                "title": "Basket",
                "type": "object",
            },
            "Weight": {
                "additionalProperties": False,
                "properties": {
                    "kg": {"type": "number"},
                    "tare": {"default": 0, "type": "integer"},
                    "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                },
                "required": ["kg"],
                "title": "Weight",
                "type": "object",
            },
        },
        "properties": {"a": {"$ref": "#/$defs/Basket"}, "b": {"$ref": "#/$defs/Weight"}},
        "required": ["a", "b"],
    },
    "alias": {
        "$defs": {
            "Json": {
                "anyOf": [
                    {"additionalProperties": {"$ref": "#/$defs/Json"}, "type": "object"},
                    {"items": {"$ref": "#/$defs/Json"}, "type": "array"},
                    {"type": "string"},
                    {"type": "integer"},
                    {"type": "null"},
                ]
            }
        },
        "properties": {"a": {"$ref": "#/$defs/Json"}},
        "required": ["a"],
    },
    "places": {
        "properties": {
            "a": {"format": "path", "type": "string"},
            "b": {"default": "10.0.0.1", "format": "ipv4", "type": "string"},
            "c": {"default": "PT5M", "format": "duration", "type": "string"},
        },
        "required": ["a"],
    },
    "keyed": {
        "$defs": {"Size": {"enum": ["s", "l"], "title": "Size", "type": "string"}},
        "properties": {
            "a": {"additionalProperties": {"type": "string"}, "type": "object"},
            "b": {
                "additionalProperties": {"type": "integer"},
                "propertyNames": {"$ref": "#/$defs/Size"},
                "type": "object",
            },
        },
        "required": ["a", "b"],
    },
    "named_like_pydantic": {
        "properties": {
            "self": {"type": "integer"},
            "model_config": {"type": "string"},
            "json": {"type": "string"},
            "class_": {"type": "string"},
        },
        "required": ["self", "model_config", "json", "class_"],
    },
    "wrapped": {"properties": {"a": {"type": "integer"}, "b": {"default": "x", "type": "string"}}, "required": ["a"]},
    "callable": {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "of_lambda": {"properties": {}},
}


def test_the_table_is_whole() -> None:
    assert list(ROWS) == list(SCHEMAS)


@pytest.mark.parametrize("name", ROWS)
def test_the_schema_says_what_the_signature_says(name: str) -> None:
    made = tool(name=name)(ROWS[name].function)

    assert json.loads(made.declaration.schema) == {"type": "object", "additionalProperties": False, **SCHEMAS[name]}


@pytest.mark.parametrize("name", ROWS)
def test_the_function_gets_values_of_its_types(name: str) -> None:
    made = tool(name=name)(ROWS[name].function)
    raw = json.dumps(dict(ROWS[name].sent))

    got = made.arguments.check(request(name, raw))

    assert got == ROWS[name].got
    assert isinstance(got, dict)
    assert list(map(type, got.values())) == list(map(type, ROWS[name].got.values()))
    assert told(made, raw)[0] is Status.SUCCEEDED


# attrs classes


@attrs.define
class Load:
    kg: float = attrs.field(validator=attrs.validators.le(200.0))
    unit: str = attrs.field(default="kg", validator=attrs.validators.in_(["kg", "lb"]))
    label: str = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.label = f"{self.kg} {self.unit}"


@tool
def lift(loads: list[Load], last: Load | None = None) -> str:
    return ", ".join(each.label for each in loads)


def test_f104_an_attrs_class_of_an_enclosing_function_is_built() -> None:
    @attrs.frozen
    class Step:
        text: "str"
        then: "Step | None" = None

    @tool
    def walk(step: Step) -> str:
        return f"{step.text} {step.then and step.then.text}"

    assert told(walk, '{"step":{"text":"a","then":{"text":"b"}}}') == (Status.SUCCEEDED, "a b")


def test_an_attrs_class_checks_itself_and_names_the_place() -> None:
    assert told(lift, '{"loads":[{"kg":1},{"kg":2,"unit":"lb"}]}') == (Status.SUCCEEDED, "1.0 kg, 2.0 lb")
    takes = "It takes loads: array, last: object or null (optional)."
    for sent, told_why in (
        ({"kg": 500}, "loads.0: Value error, 'kg' must be <= 200.0: 500.0. "),
        ({"kg": 1, "unit": "st"}, "loads.0: Value error, 'unit' must be in ['kg', 'lb'] (got 'st'). "),
        ({"kg": 1, "label": "x"}, "loads.0.label: is no argument of this tool. "),
        ({"unit": "kg"}, "loads.0.kg: is required. "),
        ({"kg": "NaN"}, "loads.0.kg: Input should be a finite number. "),
    ):
        status, text = told(lift, json.dumps({"loads": [sent]}))
        assert (status, text) == (Status.FAILED, f"lift was not run; its arguments: {told_why}{takes}")


T = TypeVar("T")


@attrs.frozen
class Held(Generic[T]):
    item: T
    beside: "list[T]" = attrs.Factory(lambda: list[Any]())


@attrs.frozen
class Numbered(Held[int]):
    number: int = 0


@attrs.frozen
class Doubly(Held[list[int]], Generic[T]):
    other: T | None = None


@attrs.frozen
class Plain(Numbered):
    pass


def test_a_class_that_binds_the_variable_of_a_generic_one_is_checked_as_bound() -> None:
    def hold(a: Numbered, b: Doubly[str], c: Plain) -> None: ...

    made = tool(hold)
    sent = '{"a":{"item":1,"beside":[2]},"b":{"item":[1],"other":"x"},"c":{"item":3}}'
    assert made.arguments.check(request("hold", sent)) == {
        "a": Numbered(1, [2]),
        "b": Doubly([1], other="x"),
        "c": Plain(3),
    }
    wrong = '{"a":{"item":"x","beside":["x"]},"b":{"item":["x"],"other":["x"]},"c":{"item":"x"}}'
    refused = made.arguments.check(request("hold", wrong))
    assert isinstance(refused, Refusal)
    assert refused.text.startswith("a.item: Input should be a valid integer")
    assert "and 2 more" in refused.text


class Rated(typing_extensions.TypedDict, extra_items=int):  # type: ignore[call-arg]  # mypy does not know it yet
    load: Load


class Sealed(typing_extensions.TypedDict, closed=True):
    load: typing_extensions.ReadOnly[Load]
    last: typing_extensions.ReadOnly[NotRequired[int]]


def test_what_else_a_typed_dict_takes_is_kept() -> None:
    def rate(a: Rated, b: Sealed) -> None: ...

    made = tool(rate)
    got = made.arguments.check(request("rate", '{"a":{"load":{"kg":1},"more":2},"b":{"load":{"kg":1}}}'))
    assert got == {"a": {"load": Load(1.0), "more": 2}, "b": {"load": Load(1.0)}}
    refused = made.arguments.check(request("rate", '{"a":{"load":{"kg":1},"more":"x"},"b":{"load":{"kg":1},"x":1}}'))
    assert isinstance(refused, Refusal)
    assert refused.text.startswith("a.more: Input should be a valid integer")
    assert "b.x: is no argument of this tool" in refused.text


Loads = TypeAliasType("Loads", list[Load])
Heavy = NewType("Heavy", Load)


def test_names_of_types_stand_for_forms() -> None:
    def carry(a: Loads, b: Heavy) -> None: ...

    got = tool(carry).arguments.check(request("carry", '{"a":[{"kg":1}],"b":{"kg":2}}'))
    assert got == {"a": [Load(1.0)], "b": Load(2.0)}


def test_an_attrs_class_that_pydantic_knows_itself_is_left_to_it() -> None:
    @attrs.frozen
    class Known:
        text: str

        @classmethod
        def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
            return handler(str)

    @tool
    def say(what: Known) -> str:
        return str(what)

    assert told(say, '{"what":"hello"}') == (Status.SUCCEEDED, "hello")


def test_what_cannot_be_checked_is_refused_with_the_parameter_and_the_reason() -> None:
    @attrs.define
    class Untyped:
        x = attrs.field()  # type: ignore[var-annotated]

    def f(a: int, b: Untyped) -> None: ...

    with pytest.raises(ToolDefinitionError, match="field 'x' of Untyped has no type: annotate it") as caught:
        tool(f)
    assert caught.value.parameter == "b"
