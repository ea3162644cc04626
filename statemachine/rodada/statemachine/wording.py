"""
The engine's own texts, in one value that a host may replace. They never enter a conversation as the model's words.
"""

import string
from collections.abc import Iterator

from attrs import fields, frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.states import Reason

PLACEHOLDERS = {
    "not_executed": {"because"},
    "denied": {"by", "why"},
    "timed_out": {"seconds"},
    "closing": {"because"},
    "stopped": {"because"},
    "undone": {"names"},
}


@frozen(kw_only=True)
class Wording:
    """
    Every sentence that the engine says to the person, or to the model of calls that it answers itself. What a tool
    says, of its failures too, is not among them.

    Attributes:
        language: a tag such as "en".
        not_executed: result of a request that was never started; `{because}`.
        denied: result of a request that somebody denied; `{by}`, `{why}`.
        expired: result of a request that was not approved in time.
        nobody_asked: result of a request that needs approval where nobody can be asked.
        interrupted: result of a call that was started and cut off.
        interrupted_read: the same for a call that only reads.
        timed_out: result of a call that took longer than it may; `{seconds}`.
        closing: guidance of the closing call, in the system instructions; `{because}`.
        stopped: the engine's own answer when the model gave none; `{because}`.
        undone: the part of that answer that names what was not done; `{names}`.
        go_on: its question.
        because_...: a clause for each reason, put where `{because}` stands.

    Raises:
        InvalidValue: a placeholder is unknown or missing.
    """

    language: str
    not_executed: str
    denied: str
    expired: str
    nobody_asked: str
    interrupted: str
    interrupted_read: str
    timed_out: str
    closing: str
    stopped: str
    undone: str
    go_on: str
    because_max_rounds: str
    because_max_tokens_total: str
    because_max_cost: str
    because_max_repeats: str
    because_deadline: str
    because_cut: str
    because_empty: str
    because_malformed: str
    because_refused: str
    because_paused: str
    because_unknown_stop: str
    because_call_failed: str
    because_append_failed: str
    because_cancelled: str

    def __attrs_post_init__(self) -> None:
        for attribute in fields(type(self)):
            _check_placeholders(attribute.name, getattr(self, attribute.name))

    def because(self, reason: Reason) -> str:
        """
        The clause for a reason.
        """
        return str(getattr(self, f"because_{reason.value}"))

    def not_executed_because(self, reason: Reason) -> str:
        """
        What the model is told of a request that was never started.
        """
        return self.not_executed.format(because=self.because(reason))

    def denied_by(self, who: str, why: str) -> str:
        """
        What the model is told of a request that somebody denied; of one that the engine denied itself, `why` alone.
        """
        return self.denied.format(by=who, why=why).strip() if who else why

    def timed_out_after(self, seconds: float) -> str:
        """
        What the model is told of a call that took longer than some seconds.
        """
        return self.timed_out.format(seconds=f"{seconds:g}")

    def closing_because(self, reason: Reason) -> str:
        """
        The guidance of the closing call.
        """
        return self.closing.format(because=self.because(reason))

    def own_answer(self, reason: Reason, undone: tuple[str, ...]) -> str:
        """
        What the person is told when the model gave no closing answer.
        """
        said = [self.stopped.format(because=self.because(reason))]
        if undone:
            said.append(self.undone.format(names=", ".join(undone)))
        return " ".join([*said, self.go_on])


def _check_placeholders(name: str, text: str) -> None:
    try:
        found = set(_placeholders(text))
    except ValueError as error:
        raise InvalidValue(f"Wording.{name}", f"not a format text: {error}") from None
    wanted = PLACEHOLDERS.get(name, set())
    if found != wanted:
        raise InvalidValue(f"Wording.{name}", f"needs the placeholders {sorted(wanted)}, has {sorted(found)}")
    if not text.strip():
        raise InvalidValue(f"Wording.{name}", "must not be blank")


def _placeholders(text: str) -> Iterator[str]:
    for _, name, form, conversion in string.Formatter().parse(text):
        if form or conversion:
            raise ValueError(f"the placeholder {name!r} must stand alone, without a format")
        if name is not None:
            yield name


ENGLISH = Wording(
    language="en",
    not_executed="Not executed: {because}. It never started and had no effect.",
    denied="Not executed: denied by {by}. {why}",
    expired="Not executed: it was not approved in time.",
    nobody_asked="Not executed: it needs an approval, and nobody can be asked in this run.",
    interrupted="Interrupted while it was running: it may have taken effect, and its result is not known.",
    interrupted_read="Interrupted while it was running. It only reads, so it may simply be asked again.",
    timed_out="Timed out after {seconds} s: it may have taken effect, and its result is not known.",
    closing=(
        "Tools can no longer be used for this message, because {because}. Reply to the person now, in their "
        "language and in plain text: what was found so far, what was left undone, and whether you should go on. "
        "Do not claim that anything was done that has no successful result above."
    ),
    stopped="I had to stop before the work was done, because {because}.",
    undone="Not done: {names}.",
    go_on="Shall I go on?",
    because_max_rounds="the limit of tool rounds for one message was reached",
    because_max_tokens_total="the token budget for one message is used up",
    because_max_cost="none of the money for one message is known to be left",
    because_max_repeats="the same calls kept giving the same results",
    because_deadline="the time for one message is over",
    because_cut="the model's output was cut at its length limit",
    because_empty="the model gave an empty reply",
    because_malformed="the model's reply could not be used",
    because_refused="the model declined to answer",
    because_paused="the model paused too many times",
    because_unknown_stop="the model stopped for a reason that is not known",
    because_call_failed="the model could not be reached",
    because_append_failed="the conversation could not be stored",
    because_cancelled="the run was cancelled",
)

PORTUGUESE = Wording(
    language="pt",
    not_executed="Não executado: {because}. Nunca começou e não teve efeito.",
    denied="Não executado: negado por {by}. {why}",
    expired="Não executado: não foi aprovado a tempo.",
    nobody_asked="Não executado: precisa de aprovação, e ninguém pode ser consultado nesta execução.",
    interrupted="Interrompido durante a execução: pode ter tido efeito, e o resultado não é conhecido.",
    interrupted_read="Interrompido durante a execução. É só uma leitura: pode ser pedida de novo.",
    timed_out="Tempo esgotado após {seconds} s: pode ter tido efeito, e o resultado não é conhecido.",
    closing=(
        "As ferramentas já não podem ser usadas nesta mensagem, porque {because}. Responda agora à pessoa, na língua "
        "dela e em texto simples: o que foi encontrado até aqui, o que ficou por fazer, e se deve continuar. "
        "Não afirme que algo foi feito se não houver acima um resultado bem-sucedido."
    ),
    stopped="Tive de parar antes de terminar, porque {because}.",
    undone="Não foi feito: {names}.",
    go_on="Devo continuar?",
    because_max_rounds="o limite de rodadas de ferramentas por mensagem foi atingido",
    because_max_tokens_total="o orçamento de tokens por mensagem acabou",
    because_max_cost="não consta que reste dinheiro para uma mensagem",
    because_max_repeats="as mesmas chamadas davam sempre os mesmos resultados",
    because_deadline="o tempo para uma mensagem acabou",
    because_cut="a resposta do modelo foi cortada no limite de tamanho",
    because_empty="o modelo deu uma resposta vazia",
    because_malformed="a resposta do modelo não pôde ser usada",
    because_refused="o modelo recusou-se a responder",
    because_paused="o modelo fez pausas demais",
    because_unknown_stop="o modelo parou por um motivo desconhecido",
    because_call_failed="não foi possível contactar o modelo",
    because_append_failed="não foi possível guardar a conversa",
    because_cancelled="a execução foi cancelada",
)

SPANISH = Wording(
    language="es",
    not_executed="No ejecutado: {because}. Nunca empezó y no tuvo efecto.",
    denied="No ejecutado: denegado por {by}. {why}",
    expired="No ejecutado: no se aprobó a tiempo.",
    nobody_asked="No ejecutado: necesita aprobación, y en esta ejecución no se puede preguntar a nadie.",
    interrupted="Interrumpido durante la ejecución: puede haber tenido efecto, y el resultado no se conoce.",
    interrupted_read="Interrumpido durante la ejecución. Solo lee: se puede pedir de nuevo.",
    timed_out="Tiempo agotado tras {seconds} s: puede haber tenido efecto, y el resultado no se conoce.",
    closing=(
        "Ya no se pueden usar herramientas en este mensaje, porque {because}. Responde ahora a la persona, en su "
        "idioma y en texto simple: qué se encontró hasta ahora, qué quedó sin hacer, y si debes continuar. "
        "No afirmes que se hizo algo que no tenga arriba un resultado con éxito."
    ),
    stopped="Tuve que parar antes de terminar, porque {because}.",
    undone="No se hizo: {names}.",
    go_on="¿Quieres que continúe?",
    because_max_rounds="se alcanzó el límite de rondas de herramientas por mensaje",
    because_max_tokens_total="se agotó el presupuesto de tokens por mensaje",
    because_max_cost="no consta que quede dinero para un mensaje",
    because_max_repeats="las mismas llamadas daban siempre los mismos resultados",
    because_deadline="se acabó el tiempo para un mensaje",
    because_cut="la respuesta del modelo se cortó en su límite de longitud",
    because_empty="el modelo dio una respuesta vacía",
    because_malformed="la respuesta del modelo no se pudo usar",
    because_refused="el modelo se negó a responder",
    because_paused="el modelo hizo demasiadas pausas",
    because_unknown_stop="el modelo paró por un motivo desconocido",
    because_call_failed="no se pudo contactar con el modelo",
    because_append_failed="no se pudo guardar la conversación",
    because_cancelled="la ejecución fue cancelada",
)

LANGUAGES = {wording.language: wording for wording in (ENGLISH, PORTUGUESE, SPANISH)}
