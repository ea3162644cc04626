"""
One stage for each file: the SDKs' clients are made once.
"""

from collections.abc import Generator

import pytest

from support.stage import Stage, set_stage


@pytest.fixture(scope="module")
def stage() -> Generator[Stage]:
    """
    The real SDKs against one loopback server.
    """
    with set_stage() as made:
        yield made
