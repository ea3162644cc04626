"""
The wires that a tool loop can speak, each in its own module so that no vendor's SDK is imported unasked.
"""

__all__: list[str] = []
