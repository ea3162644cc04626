"""
The demo's data: small CSV files that are shipped beside this module.
"""

import csv
from importlib import resources


def records(name: str) -> list[dict[str, str]]:
    """
    The rows of a data file, in order.
    """
    text = (resources.files("rodada.cli.demo") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
