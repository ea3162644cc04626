"""
What is known of a Claude model by its name; one that tells no version counts as the newest.
"""

import pytest

from rodada.providers.anthropic_models import Traits


@pytest.mark.parametrize(
    ("model", "system_role", "bound"),
    [
        ("claude-3-5-sonnet-20241022", False, False),
        ("claude-3-opus-20240229", False, False),
        ("claude-instant-1", False, False),
        ("claude-sonnet-4-20250514", False, False),
        ("claude-opus-4-5-20251101", False, False),
        ("claude-opus-4-8", True, False),
        ("claude-opus-5", True, False),
        ("claude-sonnet-5", False, False),
        ("claude-opus-5-5", True, True),
        ("claude-opus-5-5-20260901", True, True),
        ("claude-sonnet-5-5", True, True),
        ("claude-haiku-5-5", True, True),
        ("claude-haiku-4-5", False, False),
        ("claude-fable-5", True, False),
        ("claude-fable-5-1", True, True),
        ("claude-mythos-5-1", True, True),
        ("anthropic/claude-opus-4.8", True, False),
        ("eu.anthropic.claude-sonnet-4-5-v1:0", False, False),
        ("claude-opus-6", True, True),
        ("claude-saga-7-2", True, True),
        ("claude-next", True, True),
        ("our-deployment", True, True),
    ],
)
def test_what_is_known_of_models(model: str, system_role: bool, bound: bool) -> None:
    assert Traits.of(model) == Traits(system_role, bound)
