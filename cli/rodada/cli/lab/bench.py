"""
The bench of a lab: a scripted model that asks for the calls, and the tools that answer them.

Each iteration is one round of the loop, with all calls whose needs have their results. They come in rounds, not all in
one turn with an order, because a model can only write an argument taken from a result after it was shown that
result; so the limit of iterations, the ids and the order of the results are the table's own, and none is made here.
"""

from attrs import define, field, frozen

from rodada.cli.lab.calls import LabCall, order_of
from rodada.cli.lab.references import Unresolved, resolved
from rodada.providers.scripted import Call, Turn
from rodada.statemachine import (
    Exchange,
    Kind,
    ModelRequest,
    PlannedCall,
    Status,
    ToolCall,
    ToolDeclaration,
    ToolRequest,
    ToolResult,
)
from rodada.statemachine.drivers.clock import pause
from rodada.statemachine.jsontext import JsonValue, dump_json, parse_json
from rodada.statemachine.ports import CallSetting, Clock
from rodada.statemachine.scheduling import Touches
from rodada.statemachine.toolbox import AnsweredCall

LARGEST = 1_000_000
DONE = "Every call has its result."
STOPPED = "The iterations are used up."


@define(eq=False)
class Bench:
    """
    What the model and the tools of a lab know.

    Attributes:
        calls: by id, in the order of the file.
        clock: whose seconds the calls take.
        statuses: of the calls whose results the model was shown.
        results: what the succeeded ones of them gave.
    """

    calls: dict[str, LabCall]
    clock: Clock
    statuses: dict[str, Status] = field(init=False, factory=dict[str, Status])
    results: dict[str, JsonValue] = field(init=False, factory=dict[str, JsonValue])

    @property
    def tools(self) -> "tuple[LabTool, ...]":
        """
        One tool for each name.
        """
        names = dict.fromkeys(call.name for call in self.calls.values())
        return tuple(LabTool(ToolDeclaration(name, "simulated"), self) for name in names)

    def reply(self, request: ModelRequest) -> Turn:
        """
        What the model says: it asks for every call that has not been asked for and whose needs are known.
        """
        if not request.tools_allowed:
            return Turn(STOPPED)
        self._look_at(request)
        ready = self._ready()
        return Turn(calls=[self._asked(call) for call in ready]) if ready else Turn(DONE)

    def refusal(self, call: LabCall) -> str:
        """
        Why a call cannot run; "" when it can.
        """
        missing = [needed for needed in call.needs if needed not in self.results]
        if missing:
            return f"{call.id} was not run: it needs {', '.join(missing)}, which gave no result."
        try:
            resolved(call.arguments, self.results)
        except Unresolved as error:
            return f"{call.id} was not run: {error}."
        return ""

    def _look_at(self, request: ModelRequest) -> None:
        shown = [result for entry in request.entries if isinstance(entry, Exchange) for result in entry.results]
        self.statuses = {result.id: result.status for result in shown}
        self.results = {each.id: parse_json(each.text) for each in shown if each.status is Status.SUCCEEDED}

    def _ready(self) -> list[LabCall]:
        # What needs a call that gave no result is asked for at once: it waits for nothing any more.
        doomed = {call_id for call_id, status in self.statuses.items() if status is not Status.SUCCEEDED}
        for call_id in order_of(tuple(self.calls.values())):
            if not doomed.isdisjoint(self.calls[call_id].needs):
                doomed.add(call_id)
        waiting = [call for call in self.calls.values() if call.id not in self.statuses]
        return [call for call in waiting if call.id in doomed or self.results.keys() >= set(call.needs)]

    def _asked(self, call: LabCall) -> Call:
        try:
            arguments = resolved(call.arguments, self.results)
        except Unresolved:
            arguments = call.arguments
        return Call(call.name, dump_json(arguments), call.id)


@frozen(eq=False)
class LabTool:
    """
    The simulated tool of one name. Fits `AnyTool`; what needs a call that failed is refused by its checks.
    """

    declaration: ToolDeclaration
    bench: Bench

    def planned(self, request: ToolRequest) -> PlannedCall | None:
        """
        A read, deterministic where the call says so; None when it cannot run.
        """
        call = self.bench.calls[request.id]
        if self.bench.refusal(call):
            return None
        return PlannedCall(request.id, Kind.READ, deterministic=call.deterministic)

    @property
    def declared(self) -> bool:
        """
        Simulated calls share nothing.
        """
        return True

    def touches(self, request: ToolRequest) -> Touches:
        """
        Nothing: the calls of one round are independent.
        """
        return Touches()

    def seconds(self, usual: float | None) -> float | None:
        """
        Unlimited: a call takes the seconds that it says.
        """
        return None

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        """
        The simulated call.
        """
        call = self.bench.calls[request.id]
        refusal = self.bench.refusal(call)
        if refusal:
            return AnsweredCall(ToolResult.of(request, Status.FAILED, refusal))
        return _Simulated(call, request, self.bench.clock)


@frozen(eq=False)
class _Simulated:
    """
    A call that takes its seconds, unless plain code answers it, and gives its result.
    """

    call: LabCall
    request: ToolRequest
    clock: Clock

    async def run(self) -> ToolResult:
        if self.call.seconds and not self.call.deterministic:
            await pause(self.clock, self.call.seconds)
        if self.call.fails:
            return ToolResult.of(self.request, Status.FAILED, self.call.fails)
        text = dump_json(self.call.result[0]) if self.call.result else self.request.raw
        if len(text) > LARGEST:
            return ToolResult.of(self.request, Status.FAILED, f"{self.call.id} gave more than {LARGEST} characters.")
        return ToolResult.of(self.request, Status.SUCCEEDED, text)

    @property
    def alive(self) -> bool:
        return False
