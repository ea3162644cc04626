"""
What a server lists becomes tools. A listed tool that cannot be one is left out and named: no server keeps a loop from
starting by one bad entry.
"""

from collections.abc import Coroutine, Iterable, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, cast

from attrs import evolve, field, frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonObject, clean_text, dump_json, parse_object
from rodada.statemachine.request import ToolDeclaration
from rodada.tools.cutting import cut_text
from rodada.tools.decorator import Tool
from rodada.tools.errors import ToolDefinitionError
from rodada.tools.json_schema import schema_arguments
from rodada.tools.mcp_names import tool_name
from rodada.tools.options import Options, ToolOptions, options_of
from rodada.tools.value_text import error_name

if TYPE_CHECKING:
    from mcp.types import Tool as ListedTool

NOTHING_SAID = Options()
LONGEST_DESCRIPTION = 10_000
LARGEST_SCHEMA = 100_000
LONGEST_WHY = 300
NAMES_TOLD = 50


async def _remote() -> None:
    # Stands for the tools of every server where options are checked: they are async.
    ...


def _as_options(place: str, given: object) -> Options:
    if not isinstance(given, dict):
        raise InvalidValue(place, f"takes a dict such as {{'needs_approval': True}}; got {given!r:.80}")
    return options_of(place, _remote, cast(ToolOptions, given))


def _as_usual(given: ToolOptions | Options) -> Options:
    return given if isinstance(given, Options) else _as_options("usual", given)


def _as_named(given: Mapping[str, ToolOptions]) -> Mapping[str, Options]:
    return {name: _as_options(f"options[{name!r}]", each) for name, each in given.items()}


def _is_seconds(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and 0 < given < float("inf")


@frozen(kw_only=True)
class Terms:
    """
    What the host says of a server.

    Attributes:
        options: of single tools, by the server's own names for them.
        usual: of all other tools.
        trust_hints: take the server's word for which of those only read, and which may be repeated.
        start_seconds: the time that each start of the server, and each listing of its tools, may take.

    Raises:
        InvalidValue: one of them is of the wrong kind or out of range.
        ToolDefinitionError: the same of an option of a tool.
    """

    options: Mapping[str, Options] = field(factory=dict[str, Options], converter=_as_named)
    usual: Options = field(default=NOTHING_SAID, converter=_as_usual)
    trust_hints: bool = False
    start_seconds: float = 30.0

    def __attrs_post_init__(self) -> None:
        if not isinstance(cast(object, self.trust_hints), bool):
            raise InvalidValue("trust_hints", f"takes True or False; got {self.trust_hints!r:.80}")
        if not _is_seconds(self.start_seconds):
            raise InvalidValue("start_seconds", f"takes seconds above 0; got {self.start_seconds!r:.80}")

    def of(self, server: str, tool: "ListedTool") -> Options:
        """
        The options of a tool. What the host says of it by name stands against every hint.
        """
        said = self.options.get(tool.name)
        if said is not None:
            return said
        hints = tool.annotations
        if hints is None or not self.trust_hints or self.usual.declared:
            return self.usual
        if hints.read_only_hint:
            return evolve(self.usual, reads=server)
        return evolve(self.usual, idempotent=True) if hints.idempotent_hint else self.usual


@frozen
class LeftOut:
    """
    A listed tool that cannot be one.

    Attributes:
        name: the server's own, cut to 200 characters.
        why: what is wrong with it.
    """

    name: str
    why: str


@frozen
class Offer:
    """
    What a server offers, as tools.
    """

    tools: tuple[Tool[..., Any], ...]
    left_out: tuple[LeftOut, ...]


class Caller(Protocol):
    """
    Calls a tool by the server's own name.
    """

    def __call__(self, tool: str, /, **arguments: object) -> Coroutine[object, object, object]:
        """
        What the tool returned.
        """
        ...


def offered(server: str, listed: Iterable["ListedTool"], call: Caller, terms: Terms) -> Offer:
    """
    The tools of a list, in its order.

    Raises:
        ToolDefinitionError: the host says something of a tool that is not there, which may have got another name.
    """
    tools: dict[str, Tool[..., Any]] = {}
    left_out: list[LeftOut] = []
    own_names: dict[str, None] = {}
    for each in listed:
        own_names[each.name] = None
        try:
            made = _made(server, each, call, terms.of(server, each))
            _check_free(made.name, tools)
        except _Unfit as error:
            left_out.append(LeftOut(clean_text(each.name)[:200], str(error)))
        else:
            tools[made.name] = made
    for name in terms.options:
        if name not in own_names:
            told = ", ".join(map(ascii, islice(own_names, NAMES_TOLD))) or "none"
            raise ToolDefinitionError(
                f"options[{name!r}]", f"MCP server {server!r} lists no tool of that name; it lists {told}"
            )
    return Offer(tuple(tools.values()), tuple(left_out))


class _Unfit(Exception):
    pass


def _check_free(name: str, tools: Mapping[str, object]) -> None:
    if name in tools:
        raise _Unfit(f"another tool of the list is named {name!r} too")


def _made(server: str, listed: "ListedTool", call: Caller, options: Options) -> Tool[..., Any]:
    name = tool_name(server, listed.name)
    try:
        schema = _schema(listed)
        arguments = schema_arguments(f"MCP tool {name}", schema, by_stranger=True)
        declaration = ToolDeclaration(name, _description(listed), arguments.schema)
    except _Unfit:
        raise
    except (ToolDefinitionError, InvalidValue) as error:
        raise _Unfit(str(error)[:LONGEST_WHY]) from None
    except Exception as error:  # noqa: BLE001 - a stranger's schema may break whatever reads it
        raise _Unfit(f"reading its schema raised {error_name(error)}") from None
    return Tool(declaration, partial(call, listed.name), arguments, options)


def _schema(listed: "ListedTool") -> JsonObject:
    text = clean_text(dump_json(listed.input_schema))
    if len(text) > LARGEST_SCHEMA:
        raise _Unfit(f"its schema has {len(text)} characters; {LARGEST_SCHEMA} are the most")
    schema = parse_object(text)
    if schema is None:
        raise _Unfit("its schema is nested too deeply, or no strict JSON")
    return schema


def _description(listed: "ListedTool") -> str:
    said = listed.description or listed.title or ""
    return cut_text(clean_text(said).strip(), LONGEST_DESCRIPTION)
