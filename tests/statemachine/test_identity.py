"""
Ids that no two processes share.
"""

import re

from rodada.statemachine.identity import new_id


def test_an_id_says_what_it_is_of_and_is_not_made_twice() -> None:
    made = {new_id("run") for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(r"run_[0-9a-f]{32}", each) for each in made)
