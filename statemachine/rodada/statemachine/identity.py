"""
New ids, for values that come from outside the machine. The machine itself never makes one.
"""

import os


def new_id(kind: str) -> str:
    """
    A fresh id such as `run_3f9a...`: 16 random bytes, so that no two processes meet.
    """
    return f"{kind}_{os.urandom(16).hex()}"
