"""
Several tools as the toolbox of a loop: looked up, planned, and called.
"""

from collections.abc import Iterable, Mapping

from attrs import Factory, field, frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.messages import Status, ToolRequest, ToolResult
from rodada.statemachine.plan import Kind, Plan, PlannedCall
from rodada.statemachine.ports import AnyTool, CallSetting, ToolCall
from rodada.statemachine.request import ToolDeclaration
from rodada.statemachine.scheduling import EVERYTHING, Touches, scheduled

LONGEST_NAME_TOLD = 80
NAMES_TOLD = 100


@frozen
class AnsweredCall:
    """
    A call that runs nothing: its result was there before, as that of one that did not pass its checks.
    """

    result: ToolResult

    async def run(self) -> ToolResult:
        """
        The result.
        """
        return self.result

    @property
    def alive(self) -> bool:
        """
        Nothing of it ever runs.
        """
        return False


def _as_tools(tools: Iterable[AnyTool]) -> tuple[AnyTool, ...]:
    found = tuple(tools)
    for candidate in found:
        _check_tool(candidate)
    return found


def _check_tool(candidate: object) -> None:
    if not isinstance(candidate, AnyTool):
        raise InvalidValue("tools", f"{candidate!r:.120} is no tool: decorate a function with @tool")


def _by_name(tools: tuple[AnyTool, ...]) -> Mapping[str, AnyTool]:
    found: dict[str, AnyTool] = {}
    for position, candidate in enumerate(tools):
        name = candidate.declaration.name
        if name in found:
            first = tools.index(found[name])
            raise InvalidValue("tools", f"tools {first} and {position} are both named {name!r}: give one another name")
        found[name] = candidate
    return found


@frozen(eq=False)
class ToolList:
    """
    A toolbox made of single tools.

    Attributes:
        tools: in the order in which the model is told of them.
        parallel: run together what is independent; else one call runs after another, in request order.

    Raises:
        InvalidValue: something is no tool, or two tools share a name.
    """

    tools: tuple[AnyTool, ...] = field(converter=_as_tools)
    parallel: bool = False
    _named: Mapping[str, AnyTool] = field(
        init=False, repr=False, default=Factory(lambda self: _by_name(self.tools), takes_self=True)
    )

    @property
    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """
        What the model is told, in the order given.
        """
        return tuple(each.declaration for each in self.tools)

    def plan(self, requests: tuple[ToolRequest, ...]) -> Plan:
        """
        Calls that conflict keep request order; without `parallel` all conflict. A call that will not pass its checks
        waits for nobody, and nobody waits for it.
        """
        return scheduled(self._planned(request) for request in requests)

    def _planned(self, request: ToolRequest) -> tuple[PlannedCall, Touches | None]:
        found = self._named.get(request.name)
        call = None if found is None else found.planned(request)
        if found is None or call is None:
            return PlannedCall(request.id, Kind.READ, refused=True), None
        return call, found.touches(request) if self.parallel else EVERYTHING

    def seconds(self, request: ToolRequest, usual: float | None) -> float | None:
        """
        The tool's own time limit in seconds, or the usual one; None is unlimited.
        """
        found = self._named.get(request.name)
        return usual if found is None else found.seconds(usual)

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        """
        The call of a request, not yet running.
        """
        found = self._named.get(request.name)
        if found is None:
            return AnsweredCall(ToolResult.of(request, Status.FAILED, self._unknown(request.name)))
        return found.call(request, setting)

    def _unknown(self, name: str) -> str:
        names = list(self._named)
        told = ", ".join(names[:NAMES_TOLD]) or "none"
        more = f" and {len(names) - NAMES_TOLD} more" if len(names) > NAMES_TOLD else ""
        return f"There is no tool {name[:LONGEST_NAME_TOLD]!r}, and nothing was run. The tools are: {told}{more}."
