"""
`adopt`: the tool list of an existing loop, in any vendor's form, becomes the same tools.
"""

import asyncio
import copy
import functools
import json
import sys
from collections.abc import Iterable
from typing import Any

import attrs
import pytest
from google.genai import types

from rodada.statemachine.messages import Status
from rodada.statemachine.plan import Kind
from rodada.statemachine.ports import AnyTool, CallSetting
from rodada.statemachine.request import ToolDeclaration
from rodada.tools import Approval, Context, ToolDefinitionError, ToolOptions, adopt, tool
from support.tool_calls import request, told

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Its name."},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
        "parts": {"type": "array", "items": {"type": "string", "enum": ["wind", "rain"]}},
    },
    "required": ["city"],
}
OPEN_API = {
    "type": "OBJECT",
    "properties": {
        "city": {"type": "STRING", "description": "Its name."},
        "days": {"type": "INTEGER", "minimum": 1, "maximum": 7},
        "parts": {"type": "ARRAY", "items": {"type": "STRING", "enum": ["wind", "rain"]}},
    },
    "required": ["city"],
}
WORDS = {"name": "weather", "description": "Tells the weather."}

FORMS: dict[str, Any] = {
    "Anthropic": {**WORDS, "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    "Anthropic, typed": {"type": "custom", **WORDS, "input_schema": SCHEMA},
    "Responses": {"type": "function", **WORDS, "parameters": SCHEMA, "strict": False},
    "Chat": {"type": "function", "function": {**WORDS, "parameters": SCHEMA}},
    "Gemini": {"functionDeclarations": [{**WORDS, "parametersJsonSchema": SCHEMA}]},
    "Gemini, as Python": {"function_declarations": [{**WORDS, "parameters_json_schema": SCHEMA}]},
    "Gemini, in its own notation": {"functionDeclarations": [{**WORDS, "parameters": OPEN_API}]},
    "Gemini, alone": {**WORDS, "parameters": OPEN_API},
    "Gemini, of the SDK": types.Tool(
        function_declarations=[
            types.FunctionDeclaration(name="weather", description="Tells the weather.", parameters_json_schema=SCHEMA)
        ]
    ),
}


def weather(city: str, days: int = 1, parts: Iterable[str] = ()) -> str:
    return f"{city}: {days} {list(parts)}"


def with_secret(city: str, days: int, parts: object, key: str) -> str:
    return f"{key} {city}"


def anything(**sent: object) -> str:
    return json.dumps(sent)


def adopted(declaration: Any, function: Any = weather) -> Any:
    (found,) = adopt([declaration], {"weather": function})
    return found


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_forms_of_one_tool_give_equal_tools(form: Any) -> None:
    found = adopted(form)

    assert found == adopted(FORMS["Anthropic"])
    assert hash(found) == hash(adopted(FORMS["Anthropic"]))
    assert found.declaration == ToolDeclaration(
        "weather", "Tells the weather.", json.dumps(SCHEMA, separators=(",", ":"))
    )
    assert told(found, '{"city":"Faro","parts":["rain"]}') == (Status.SUCCEEDED, "Faro: 1 ['rain']")


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_f083_the_list_and_the_options_of_a_host_are_as_they_were(form: Any) -> None:
    declarations, functions = [form], {"weather": weather}
    options: dict[str, ToolOptions] = {"weather": {"reads": ["sky"]}}
    given = (declarations, functions, options)
    before = copy.deepcopy(given)

    (made,) = adopt(*given)
    told(made, '{"city":"Faro","parts":["rain"]}')

    assert before == given


def test_tools_differ_when_they_say_or_call_something_else() -> None:
    other = {**FORMS["Anthropic"], "description": "Other."}

    assert adopted(other) != adopted(FORMS["Anthropic"])
    assert adopted(FORMS["Anthropic"], anything) != adopted(FORMS["Anthropic"])


def test_several_tools_keep_their_order_and_their_schemas_as_they_stand() -> None:
    odd = {"type": "object", "properties": {"x": {"anyOf": [{"type": "null"}, {"const": 1}]}}, "x-own": {"a": None}}
    declarations = [
        {"name": "b", "input_schema": odd},
        {"functionDeclarations": [{"name": "c"}, {"name": "a", "description": "A."}]},
    ]

    found = adopt(declarations, dict.fromkeys("abc", anything))

    nothing = '{"type":"object","properties":{}}'
    assert [each.declaration for each in found] == [
        ToolDeclaration("b", "", json.dumps(odd, separators=(",", ":"))),
        ToolDeclaration("c", "", nothing),
        ToolDeclaration("a", "A.", nothing),
    ]
    assert all(isinstance(each, AnyTool) and each.options.kind is Kind.WRITE for each in found)


def refused(raw: str, declaration: Any = FORMS["Anthropic"], function: Any = weather) -> str:
    made = adopted(declaration, function)
    status, text = told(made, raw)
    assert status is Status.FAILED
    assert made.planned(request("weather", raw)) is None
    assert len(text) < 1200
    return text.removeprefix("weather was not run; its arguments: ")


TAKES = "It takes city: string, days: integer (optional), parts: array (optional)."


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("{}", f"arguments: 'city' is a required property. {TAKES}"),
        ('{"city":3}', f"city: should be of type string. {TAKES}"),
        ('{"city":null}', f"city: should be of type string. {TAKES}"),
        ('{"city":"x","days":9}', f"days: does not fulfil maximum 7. {TAKES}"),
        ('{"city":"x","parts":["sun"]}', f'parts.0: does not fulfil enum ["wind","rain"]. {TAKES}'),
        ('{"city":"x","zip":1}', f"zip: is no argument of this tool. {TAKES}"),
        ('{"city":1,"days":"1","parts":[1],"a":1}', None),
        ("[1]", "they are an array, not a JSON object; 3 characters came, beginning with '[1]'. Send one JSON object."),
        ('{"city":"x","city":"y"}', None),
        ('{"city":NaN}', None),
        ('{"city":"x","' + "y" * 100_000 + '":1}', None),
        ('{"city":"x","days":"' + "y" * 100_000 + '"}', None),
        ('{"city":' + "[" * 500 + "]" * 500 + "}", None),
    ],
)
def test_arguments_that_do_not_fulfil_the_schema_are_refused_by_name(raw: str, reason: str | None) -> None:
    text = refused(raw)
    assert reason is None or text == reason


def test_f032_null_counts_as_absent_where_it_may_be() -> None:
    assert told(adopted(FORMS["Chat"]), '{"city":"x","days":null}') == (Status.SUCCEEDED, "x: 1 []")


def test_f039_lone_surrogates_in_arguments_are_replaced() -> None:
    assert told(adopted(FORMS["Chat"]), '{"city":"a\\udc97b"}') == (Status.SUCCEEDED, "a\ufffdb: 1 []")


def test_a_model_cannot_set_what_its_declaration_does_not_tell() -> None:
    def secret(city: str, days: int = 1, parts: object = (), user: str = "ana") -> str:
        return user

    def many(city: str, *, user: str = "ana", **more: object) -> str:
        return f"{user} {sorted(more)}"

    assert refused('{"city":"x","user":"eve"}', function=secret).startswith("user: is no argument of this tool. ")
    assert refused('{"city":"x","user":"eve"}', function=many).startswith("user: is no argument of this tool. ")
    assert told(adopted(FORMS["Chat"], many), '{"city":"x","zip":1}') == (Status.SUCCEEDED, "ana ['zip']")


def test_f107_an_adopted_function_may_take_the_context() -> None:
    async def local(ctx: Context[str], city: str, **more: object) -> str:
        return f"{ctx.value} {city}"

    made = adopted(FORMS["Responses"], local)

    call = made.call(request("weather", '{"city":"x"}'), CallSetting(context="ana"))
    assert asyncio.run(call.run()).text == "ana x"
    assert refused('{"city":"x","ctx":1}', function=local).startswith("ctx: is no argument of this tool. ")


def test_methods_partials_and_async_functions_are_adopted() -> None:
    @attrs.frozen
    class Station:
        name: str

        async def weather(self, city: str, days: int, parts: object) -> str:
            return f"{self.name} {city}"

    raw = '{"city":"x","days":1,"parts":[]}'
    assert told(adopted(FORMS["Chat"], Station("s").weather), raw) == (Status.SUCCEEDED, "s x")
    bound = functools.partial(with_secret, key="k")
    assert told(adopted(FORMS["Chat"], bound), raw) == (Status.SUCCEEDED, "k x")


def test_functions_need_no_annotations() -> None:
    def plain(city, days=1, parts=()):  # type: ignore[no-untyped-def]  # pyright: ignore
        return city  # pyright: ignore

    assert told(adopted(FORMS["Chat"], plain), '{"city":"x"}') == (Status.SUCCEEDED, "x")


def too_little(city: str) -> None: ...
def unnamed(city: str, days: int, parts: object, /) -> None: ...


MISFITS: list[tuple[object, str, str]] = [
    (with_secret, "key", "does not tell the model of it"),
    (too_little, "days", "the function cannot take it"),
    (unnamed, "city", "the function cannot take it"),
    (3, "", "it is no function"),
    (tool(name="weather")(too_little), "", "it is a tool already"),
]


@pytest.mark.parametrize(("function", "parameter", "reason"), MISFITS)
def test_a_function_that_does_not_fit_its_declaration_is_refused(function: Any, parameter: str, reason: str) -> None:
    with pytest.raises(ToolDefinitionError, match=reason) as caught:
        adopted(FORMS["Anthropic"], function)
    assert caught.value.parameter == parameter


MISTAKES: list[tuple[list[Any], str]] = [
    ([{"type": "web_search_20260209", "name": "web_search"}], r"declarations\[0\].*has the form of no vendor"),
    ([{"type": "web_search"}], "has the form of no vendor"),
    ([{"googleSearch": {}}], "has the form of no vendor"),
    (["weather"], "has the form of no vendor"),
    ([object()], "it is no JSON"),
    ([{"name": "a b", "input_schema": SCHEMA}], "is no legal name"),
    ([{"name": "weather", "input_schema": {"type": "array"}}], "must be a JSON object of type object"),
    ([{"name": "weather", "input_schema": {"type": "object", "required": 3}}], "its schema is none"),
    ([{"name": "weather", "input_schema": {**SCHEMA, "$schema": 7}}], "its schema is none"),
    ([{"name": "weather", "input_schema": {**SCHEMA, "$schema": "http://["}}], "its schema is none"),
    ([FORMS["Chat"], FORMS["Anthropic"]], "another one has the same name"),
    ([{"name": "other"}, FORMS["Chat"]], "declaration 'other' .* functions has no function of that name"),
    ([], r"functions\['weather'\] .* no declaration has that name"),
]


@pytest.mark.parametrize(("declarations", "reason"), MISTAKES)
def test_what_cannot_be_adopted_is_refused_with_its_place(declarations: list[Any], reason: str) -> None:
    with pytest.raises(ToolDefinitionError, match=reason):
        adopt(declarations, {"weather": weather})


def test_a_reference_of_a_schema_is_never_fetched() -> None:
    schema = {"type": "object", "properties": {"city": {"$ref": "http://127.0.0.1:9/city.json"}}}

    text = refused('{"city":"x"}', {"name": "weather", "input_schema": schema}, anything)

    assert text.startswith("checking them raised ")


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(ToolDefinitionError, match=r"pip install 'rodada\[jsonschema\]'"):
        adopted(FORMS["Chat"])


def test_an_adopted_tool_has_the_options_that_a_decorated_one_has() -> None:
    options: dict[str, ToolOptions] = {
        "weather": {
            "reads": "sky",
            "needs_approval": Approval(count=2),
            "timeout": 5,
            "errors": "message",
            "thread": "caller",
        }
    }
    (made,) = adopt([FORMS["Chat"]], {"weather": weather}, options)
    decorated = tool(name="weather", **options["weather"])(weather)
    assert made.options == decorated.options
    assert (made.options.kind, made.seconds(60), made.declared) == (Kind.READ, 5, True)
    (plain,) = adopt([FORMS["Chat"]], {"weather": weather}, {})
    assert (plain.options.kind, plain.declared) == (Kind.WRITE, False)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"other": {}}, r"options\['other'\] .* no declaration has that name"),
        ({"weather": {"read": "sky"}}, "'read' is no option; these are: reads, writes"),
        ({"weather": {"timeout": 0}}, "timeout: takes seconds above 0"),
        ({"weather": {"deterministic": True, "thread": "caller"}}, 'thread: takes "caller" only where'),
    ],
)
def test_options_that_fit_nothing_are_refused(options: Any, reason: str) -> None:
    with pytest.raises(ToolDefinitionError, match=reason):
        adopt([FORMS["Chat"]], {"weather": weather}, options)
