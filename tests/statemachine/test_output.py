"""
A turn is judged by the type that its request asked for: only a whole answer is, and one that has it not is malformed.
"""

import pytest
from attrs import evolve

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.messages import ModelTurn, Stop, ToolRequest
from rodada.statemachine.output import Fits, Judged, Misfit, Reading, judged
from rodada.statemachine.request import ModelRequest

SCHEMA = '{"type":"object"}'
ASKED = ModelRequest(conversation=Conversation(), output_schema=SCHEMA)
FREE = evolve(ASKED, output_schema=None)


class Seven:
    """
    A type whose one value is said as "seven".
    """

    schema = SCHEMA

    def read(self, text: str) -> Reading:
        return Fits(7) if text == "seven" else Misfit("no Seven: another number")


def test_an_answer_of_the_type_is_the_turn_as_it_came_and_its_value() -> None:
    turn = ModelTurn(Stop.WHOLE, "seven", stop_word="end_turn")
    assert Judged(turn, 7) == judged(Seven(), ASKED, turn)


def test_an_answer_of_another_type_is_a_malformed_turn_that_says_why() -> None:
    turn = ModelTurn(Stop.WHOLE, "eight", stop_word="end_turn", response_id="r1")
    expected = ModelTurn(Stop.MALFORMED, "eight", stop_word="no Seven: another number", response_id="r1")
    assert Judged(expected) == judged(Seven(), ASKED, turn)


def test_the_pieces_of_a_paused_turn_are_read_with_the_one_that_ends_it() -> None:
    asked = evolve(ASKED, held=(ModelTurn(Stop.PAUSED, "se"), ModelTurn(Stop.PAUSED, "v")))
    assert Judged(ModelTurn(Stop.WHOLE, "en"), 7) == judged(Seven(), asked, ModelTurn(Stop.WHOLE, "en"))


@pytest.mark.parametrize(
    "turn",
    [
        ModelTurn(Stop.WHOLE, "let me look", (ToolRequest("a", "look", "{}"),)),
        ModelTurn(Stop.WHOLE, " \n"),
        ModelTurn(Stop.WHOLE),
        *(ModelTurn(stop, "eight") for stop in Stop if stop is not Stop.WHOLE),
    ],
)
def test_a_turn_that_is_no_whole_answer_is_not_judged(turn: ModelTurn) -> None:
    assert Judged(turn) == judged(Seven(), ASKED, turn)


def test_nothing_is_judged_where_no_type_was_asked_for() -> None:
    turn = ModelTurn(Stop.WHOLE, "eight")
    assert Judged(turn) == judged(Seven(), FREE, turn)
    assert Judged(turn) == judged(None, FREE, turn)
