"""
One model call, from its order to the event that answers it: within its time, and whatever the provider does. A turn in
which it breaks its word is a failed call.
"""

from attrs import field, frozen

from rodada.statemachine.drivers.clock import within
from rodada.statemachine.drivers.port_failures import foreign_failure, let_pass, provider_failure
from rodada.statemachine.drivers.ports import Ports
from rodada.statemachine.errors import ProviderError, ProviderGarbled, ProviderTimeout
from rodada.statemachine.events import CallFailed, TurnReceived
from rodada.statemachine.messages import ModelTurn
from rodada.statemachine.orders import AskModel
from rodada.statemachine.output import Judged, judged
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import model_request
from rodada.statemachine.run import Run

BACKOFF_SECONDS, LONGEST_BACKOFF = 0.5, 8.0
LONGEST_WAIT = 86_400.0  # what a vendor asks may be anything, infinity too


@frozen
class Reply:
    """
    What came of a model call.

    Attributes:
        event: for the run.
        output: what the turn holds, where it is an answer of the type that was asked for.
    """

    event: TurnReceived | CallFailed
    output: object = field(default=None, hash=False)


async def reply_to(order: AskModel, run: Run, ports: Ports, seconds: float | None, watch: Watch) -> Reply:
    """
    Make the call of an order; it has some seconds, None is unlimited. Only a cancel of this task is raised.
    """
    try:
        entering = await _entering(run, ports, seconds, watch)
        plan = ports.toolbox.plan(entering.turn.requests)
        return Reply(TurnReceived(order.call, entering.turn, plan), entering.value)
    except ProviderError as error:
        return Reply(CallFailed(order.call, provider_failure(error), _wait_ms(run.attempt, error.retry_after, ports)))
    except BaseException as error:  # noqa: BLE001  (whatever a provider or a plan raises ends in an outcome)
        let_pass(error)
        return Reply(CallFailed(order.call, foreign_failure(error, "the provider")))


def not_stopped(order: AskModel) -> CallFailed:
    """
    What is true of a call that does not end although it was cancelled.
    """
    error = ProviderTimeout("rodada", "the provider did not stop when its time was over", retryable=False)
    return CallFailed(order.call, provider_failure(error))


async def _entering(run: Run, ports: Ports, seconds: float | None, watch: Watch) -> Judged:
    if seconds is not None and seconds <= 0:
        raise ProviderTimeout("rodada", "no time was left for the call, so it was not sent", retryable=False)
    request = model_request(
        run,
        ports.instructions,
        ports.toolbox.declarations,
        seconds,
        stream=ports.stream,
        output_schema=None if ports.output is None else ports.output.schema,
    )
    try:
        turn: object = await within(ports.clock, seconds, ports.provider.ask(request, watch))
    except TimeoutError:
        raise ProviderTimeout("rodada", f"no answer within {seconds:.3g} s") from None
    return judged(ports.output, request, _checked(turn, run))


def _checked(turn: object, run: Run) -> ModelTurn:
    if not isinstance(turn, ModelTurn):
        raise ProviderGarbled("rodada", f"the provider gave a {type(turn).__name__}, not a ModelTurn", retryable=False)
    used = [request.id for request in turn.requests if run.conversation.uses(request.id)]
    if used:
        raise ProviderGarbled("rodada", f"the provider used request ids {used} again", retryable=False)
    if turn.has_words != bool(turn.text.strip()):
        raise ProviderGarbled("rodada", "the provider's turn says other than its text about words", retryable=False)
    return turn


def _wait_ms(attempt: int, asked: float | None, ports: Ports) -> int:
    backoff = min(LONGEST_BACKOFF, BACKOFF_SECONDS * 2.0 ** (attempt - 1)) * (1 - ports.jitter() / 4)
    wanted = asked if isinstance(asked, (int, float)) and asked > backoff else backoff
    return round(1000 * min(wanted, LONGEST_WAIT))
