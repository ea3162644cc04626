"""
`rodada demo`: five scenes to watch, each of which checks the promises on what went over the wire.
"""

from rodada.cli.demo.command import demo

__all__ = ["demo"]
