"""
The shop's assistant: two tools that have nothing to do with each other.
"""

from decimal import Decimal

from rodada.cli.demo.records import records
from rodada.tools import ToolError, tool

INSTRUCTIONS = "You are the assistant of a shop for gym equipment. The person is customer C-17. Answer briefly."


@tool(reads="orders")
def order_status(order_id: str) -> dict[str, str]:
    """
    Look up an order.
    """
    found = next((row for row in records("orders.csv") if row["id"] == order_id), None)
    if found is None:
        raise ToolError(f"There is no order {order_id[:20]!r}.")
    return found


@tool(reads="payments")
def payment_history(customer_id: str) -> list[dict[str, object]]:
    """
    List the payments of a customer. The ledger has a damaged line, as ledgers do.
    """
    rows = [row for row in records("payments.csv") if row["customer"] == customer_id]
    return [{**row, "amount": Decimal(row["amount"])} for row in rows]


SHOP_TOOLS = (payment_history, order_status)
