"""
A toolbox that remembers, for one run, what its deterministic calls gave: each distinct argument set is computed once.
"""

from typing import TypeAlias

from attrs import Factory, evolve, field, frozen

from rodada.statemachine.messages import ToolRequest, ToolResult
from rodada.statemachine.plan import Plan, PlannedCall
from rodada.statemachine.ports import CallSetting, Toolbox, ToolCall
from rodada.statemachine.request import ToolDeclaration
from rodada.statemachine.toolbox import AnsweredCall

ArgumentSet: TypeAlias = tuple[str, str]


@frozen(eq=False)
class _Noted:
    """
    A call whose result is kept, a failure too: the same arguments would fail again.
    """

    call: ToolCall
    arguments: ArgumentSet
    results: dict[ArgumentSet, ToolResult]

    async def run(self) -> ToolResult:
        result = await self.call.run()
        self.results[self.arguments] = result
        return result

    @property
    def alive(self) -> bool:
        return self.call.alive


@frozen(eq=False)
class Remembering:
    """
    The toolbox of one run: deterministic calls with the same arguments are answered by the first one's result.

    Attributes:
        toolbox: looks up, plans and runs; its plan says which calls are deterministic.
    """

    toolbox: Toolbox
    _asked: dict[str, ArgumentSet] = field(init=False, repr=False, default=Factory(dict[str, ArgumentSet]))
    _results: dict[ArgumentSet, ToolResult] = field(
        init=False, repr=False, default=Factory(dict[ArgumentSet, ToolResult])
    )

    @property
    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """
        What the model is told, in a fixed order.
        """
        return self.toolbox.declarations

    def plan(self, requests: tuple[ToolRequest, ...]) -> Plan:
        """
        The toolbox's plan, in which a deterministic call also waits for the one before it with the same arguments,
        whose result answers it. Not only for the first one: that may be denied, and then the second one computes it.
        """
        plan = self.toolbox.plan(requests)
        last: dict[ArgumentSet, str] = {}
        return Plan(
            tuple(self._waiting(call, request, last) for call, request in zip(plan.calls, requests, strict=True))
        )

    def _waiting(self, call: PlannedCall, request: ToolRequest, last: dict[ArgumentSet, str]) -> PlannedCall:
        if not call.deterministic:
            return call
        arguments = self._asked[call.id] = (request.name, request.digest)
        earlier, last[arguments] = last.get(arguments), call.id
        return call if earlier is None or earlier in call.after else evolve(call, after=(*call.after, earlier))

    def seconds(self, request: ToolRequest, usual: float | None) -> float | None:
        """
        The time limit of a call in seconds; None is unlimited.
        """
        return self.toolbox.seconds(request, usual)

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        """
        The call of a planned request, not yet running.
        """
        arguments = self._asked.get(request.id)
        if arguments is None:
            return self.toolbox.call(request, setting)
        known = self._results.get(arguments)
        if known is not None:
            return AnsweredCall(evolve(known, id=request.id))
        return _Noted(self.toolbox.call(request, setting), arguments, self._results)
