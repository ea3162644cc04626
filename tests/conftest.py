"""
What tests count is told at the end of a test run; how fast the machine is decides nothing.
"""

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("RODADA_EXAMPLES", "60"))
settings.register_profile(
    "any machine", max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# No test reaches a server that has a certificate; to read the machine's own for each client would take longer than most
# tests. This folder holds none.
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)


def pytest_collection_finish() -> None:
    """
    What was imported until now stays: looking through the SDKs for garbage, again and again, took as long as the tests.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def count(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """
    Tells at the end of the test run what a test counted.
    """
    return lambda told: record_property("counted", told)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """
    Print what tests recorded under "counted", also where several processes ran them.
    """
    reports = [report for key in ("passed", "failed") for report in terminalreporter.getreports(key)]
    counted = [str(value) for report in reports for name, value in report.user_properties if name == "counted"]
    if counted:
        terminalreporter.section("counted")
        for line in counted:
            terminalreporter.write_line(line)
