"""
Rounds, the closing call and its replies, through each real SDK: what the server received, call by call.
"""

import pytest

from rodada.providers.loopback import Call, Drop, Failure, Reply, Turn, WireName
from rodada.statemachine import (
    ENGLISH,
    LANGUAGES,
    Conversation,
    Limits,
    Outcome,
    Price,
    Reason,
    RunStatus,
    Status,
    ToolLoop,
)
from rodada.tools import tool
from support.heard import Heard, heard
from support.stage import MODELS, WIRES, Stage
from support.virtual_clock import VirtualClock

INSTRUCTIONS = "You keep the notes of a gym."
ASK = Turn("", [Call("look", {"n": 1})], reasoning=True)
GUIDANCE = ENGLISH.closing_because(Reason.MAX_ROUNDS)
OPEN, CLOSING = ("look",), "none"

pytestmark = pytest.mark.parametrize("wire", WIRES)


class Gym:
    """
    A loop with one tool that counts how often it ran.
    """

    def __init__(self, stage: Stage, wire: WireName, max_rounds: int = 10) -> None:
        @tool(reads="log")
        async def look(n: int) -> str:
            """Look an entry up."""
            self.ran += 1
            return f"entry {n}"

        self.ran = 0
        self.stage = stage
        self.loop = ToolLoop(
            stage.provider(wire),
            tools=[look],
            instructions=INSTRUCTIONS,
            limits=Limits(max_rounds=max_rounds),
            clock=VirtualClock(),
        )

    def ask(self, *script: Reply, conversation: Conversation | None = None) -> Outcome:
        """
        One message, all of whose replies are wanted.
        """
        self.stage.server.play(script)
        outcome = self.stage.run(self.loop.run("How is it going?", conversation=conversation))
        assert (self.stage.server.refusals, self.stage.server.unplayed) == ((), 0)
        return outcome

    @property
    def heard(self) -> list[Heard]:
        """
        What each request of the last message told the model.
        """
        return [heard(each) for each in self.stage.server.received]


def told(each: Heard) -> tuple[tuple[str, ...], str, bool]:
    """
    Tools, choice, and whether it is the closing call by its system instructions.
    """
    return each.tools, each.choice, GUIDANCE in each.system + each.aside


def test_a_model_that_always_asks_gets_twelve_calls_of_which_the_last_closes(stage: Stage, wire: WireName) -> None:
    gym = Gym(stage, wire)
    outcome = gym.ask(*[ASK] * 11, Turn("This is what I found. Shall I go on?"))
    assert [told(each) for each in gym.heard] == [*[(OPEN, "auto", False)] * 11, (OPEN, CLOSING, True)]
    assert (gym.ran, outcome.rounds, outcome.model_calls) == (10, 10, 12)
    assert (outcome.status, outcome.reason) == (RunStatus.INCOMPLETE, Reason.MAX_ROUNDS)
    assert (outcome.answer, outcome.answer_by) == ("This is what I found. Shall I go on?", "model")
    assert [call.status for call in outcome.calls] == [*[Status.SUCCEEDED] * 10, Status.NOT_EXECUTED]


def test_an_eleventh_reply_that_answers_is_the_answer(stage: Stage, wire: WireName) -> None:
    gym = Gym(stage, wire)
    outcome = gym.ask(*[ASK] * 10, Turn("You got better."))
    assert [told(each) for each in gym.heard] == [(OPEN, "auto", False)] * 11
    assert (gym.ran, outcome.status, outcome.answer) == (10, RunStatus.COMPLETED, "You got better.")


def test_with_no_rounds_no_tool_ever_runs(stage: Stage, wire: WireName) -> None:
    gym = Gym(stage, wire, max_rounds=0)
    outcome = gym.ask(ASK, Turn("I may not look it up."))
    assert [told(each) for each in gym.heard] == [(OPEN, "auto", False), (OPEN, CLOSING, True)]
    assert (gym.ran, outcome.rounds, outcome.reason) == (0, 0, Reason.MAX_ROUNDS)
    assert [(each.name, each.status) for each in outcome.calls] == [("look", Status.NOT_EXECUTED)]


OWN_WORDS = ENGLISH.own_answer(Reason.MAX_ROUNDS, ("look",))


@pytest.mark.parametrize(
    ("closing", "answer", "answer_by"),
    [
        ((Turn("One more look:", [Call("look", {"n": 2})]),), "One more look:", "model"),
        ((Turn("", [Call("look", {"n": 2})]),), OWN_WORDS, "engine"),
        ((Turn("", [Call("nope")], stop="cut"),), OWN_WORDS, "engine"),
        ((Turn(""),), OWN_WORDS, "engine"),
        ((Turn(" \n"),), OWN_WORDS, "engine"),
        ((Turn("I found th", stop="cut"),), OWN_WORDS, "engine"),
        ((Turn("I will not say.", stop="refused"),), OWN_WORDS, "engine"),
        ((Turn("What now?", stop="unknown"),), OWN_WORDS, "engine"),
        ((Failure(400),), OWN_WORDS, "engine"),
        ((Failure(500), Drop(), Failure(429)), OWN_WORDS, "engine"),
        ((Failure(503), Turn("There it is.")), "There it is.", "model"),
    ],
)
def test_whatever_the_closing_reply_is_the_person_is_told_honestly(
    stage: Stage, wire: WireName, closing: tuple[Reply, ...], answer: str, answer_by: str
) -> None:
    gym = Gym(stage, wire, max_rounds=1)
    outcome = gym.ask(ASK, ASK, *closing)
    assert [told(each) for each in gym.heard[2:]] == [(OPEN, CLOSING, True)] * len(closing)
    assert (outcome.status, outcome.reason, gym.ran) == (RunStatus.INCOMPLETE, Reason.MAX_ROUNDS, 1)
    assert (outcome.answer, outcome.answer_by) == (answer, answer_by)
    again = gym.ask(Turn("All is well."), conversation=outcome.conversation)
    assert (again.status, again.answer) == (RunStatus.COMPLETED, "All is well.")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_the_model_is_told_to_close_in_the_language_of_the_host(stage: Stage, wire: WireName, language: str) -> None:
    gym = Gym(stage, wire, max_rounds=0)
    gym.loop = gym.loop.evolve(wording=LANGUAGES[language])
    outcome = gym.ask(ASK, Turn(""))
    closing = gym.heard[1]
    assert LANGUAGES[language].closing_because(Reason.MAX_ROUNDS) in closing.system + closing.aside
    assert outcome.answer == LANGUAGES[language].own_answer(Reason.MAX_ROUNDS, ("look",))


def test_the_guidance_stands_where_the_wire_wants_it(stage: Stage, wire: WireName) -> None:
    gym = Gym(stage, wire, max_rounds=0)
    gym.ask(ASK, Turn("So far."))
    joined = f"{INSTRUCTIONS}\n\n{GUIDANCE}"
    # Thoughts of these Claude models are bound to the top-level system instructions.
    expected = (INSTRUCTIONS, GUIDANCE) if wire == "anthropic" else (joined, "")
    assert [(each.system, each.aside) for each in gym.heard] == [(INSTRUCTIONS, ""), expected]


def test_the_cost_is_reckoned_from_what_the_wire_tells_and_closes_the_run(stage: Stage, wire: WireName) -> None:
    gym = Gym(stage, wire)
    gym.loop = gym.loop.evolve(prices=[Price(model=MODELS[wire][0], input=1_000_000, output=2_000_000, cached_input=0)])
    paid = gym.ask(ASK, Turn("done"))
    costs = [
        (each.input_tokens or 0) - (each.cached_input_tokens or 0) + 2 * (each.output_tokens or 0)
        for each in paid.usages
    ]
    assert 0 < costs[0] < sum(costs) == paid.cost
    gym.loop = gym.loop.evolve(limits=Limits(max_cost=costs[0]))
    outcome = gym.ask(ASK, Turn("So far nothing."))
    assert (outcome.status, outcome.reason, outcome.answer) == (
        RunStatus.INCOMPLETE,
        Reason.MAX_COST,
        "So far nothing.",
    )
    assert (gym.ran, [call.status for call in outcome.calls]) == (1, [Status.NOT_EXECUTED])


def test_a_loop_without_tools_just_answers(stage: Stage, wire: WireName) -> None:
    gym = Gym(stage, wire)
    gym.loop = gym.loop.evolve(tools=())
    outcome = gym.ask(Turn("Hello."))
    assert (outcome.status, outcome.answer, outcome.model_calls) == (RunStatus.COMPLETED, "Hello.", 1)
    assert [each.declares for each in gym.heard] == [False]


def test_yes_go_on_starts_fresh_rounds(stage: Stage, wire: WireName) -> None:
    gym = Gym(stage, wire, max_rounds=2)
    first = gym.ask(ASK, ASK, ASK, Turn("Shall I go on?"))
    second = gym.ask(ASK, ASK, Turn("Done."), conversation=first.conversation)
    assert (first.reason, first.rounds) == (Reason.MAX_ROUNDS, 2)
    assert (second.status, second.rounds, gym.ran) == (RunStatus.COMPLETED, 2, 4)
    assert [told(each) for each in gym.heard] == [(OPEN, "auto", False)] * 3
    earlier = [heard_turn for heard_turn in gym.heard[0].turns if "never started" in str(heard_turn)]
    assert len(earlier) == 1  # the model sees what was not executed
