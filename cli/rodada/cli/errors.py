"""
What the command line says when it was used wrongly.
"""


class WrongUse(Exception):
    """
    A command was called with something that cannot be: one line on standard error, exit code 2.
    """
