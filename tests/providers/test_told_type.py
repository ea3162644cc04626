"""
A type that cannot be asked for is told in the instructions, and asked for no longer.
"""

import pytest
from attrs import evolve

from rodada.providers.told_type import TOLD, in_words
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.request import ModelRequest

SCHEMA = '{"type":"object"}'
ASKED = ModelRequest(conversation=Conversation(), instructions="Be brief.", output_schema=SCHEMA)


@pytest.mark.parametrize(
    ("instructions", "told"), [("Be brief.", f"Be brief.\n\n{TOLD}{SCHEMA}"), (" ", f"{TOLD}{SCHEMA}")]
)
def test_the_type_stands_behind_the_instructions(instructions: str, told: str) -> None:
    asked = evolve(ASKED, instructions=instructions)
    assert evolve(asked, instructions=told, output_schema=None) == in_words(asked)


def test_a_request_for_no_type_is_itself() -> None:
    free = evolve(ASKED, output_schema=None)
    assert in_words(free) is free
    assert in_words(free, also_lifted=True) is free


def test_the_closing_call_may_keep_the_instructions_of_the_calls_before() -> None:
    closing = evolve(ASKED, output_schema=None, lifted_schema=SCHEMA)
    assert in_words(ASKED).instructions == in_words(closing, also_lifted=True).instructions
    assert in_words(closing) is closing
