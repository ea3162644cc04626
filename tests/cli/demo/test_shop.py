"""
The shop's tools: one finds, the other one stumbles over a damaged line.
"""

from decimal import Decimal, InvalidOperation

import pytest

from rodada.cli.demo.shop import order_status, payment_history
from rodada.tools import ToolError


def test_an_order_is_found() -> None:
    assert order_status("A-1041") == {
        "id": "A-1041",
        "customer": "C-17",
        "item": "Lifting belt",
        "status": "delivered",
        "expected": "2026-10-12",
    }


def test_an_order_that_is_not_there_is_told_so() -> None:
    with pytest.raises(ToolError, match=r"There is no order 'B-1'\."):
        order_status("B-1")


def test_payments_are_read_where_the_ledger_is_sound() -> None:
    assert [payment["amount"] for payment in payment_history("C-22")] == [Decimal("89.00")]


def test_a_damaged_line_in_the_ledger_is_an_error() -> None:
    with pytest.raises(InvalidOperation):
        payment_history("C-17")
