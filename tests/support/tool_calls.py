"""
One call of a tool, run to its end.
"""

import asyncio

from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import Status, ToolRequest, ToolResult
from rodada.statemachine.ports import AnyTool, CallSetting

USUAL = Limits()


def request(name: str, raw: str = "{}", id: str = "c1") -> ToolRequest:
    """
    A request of the model.
    """
    return ToolRequest(id, name, raw)


async def called(tool: AnyTool, raw: str = "{}", limits: Limits = USUAL) -> ToolResult:
    """
    The result of one call.
    """
    return await tool.call(request(tool.declaration.name, raw), CallSetting(limits=limits)).run()


def result(tool: AnyTool, raw: str = "{}", limits: Limits = USUAL) -> ToolResult:
    """
    The result of one call, on an event loop of its own.
    """
    return asyncio.run(called(tool, raw, limits))


def told(tool: AnyTool, raw: str = "{}", limits: Limits = USUAL) -> tuple[Status, str]:
    """
    Status and text of one call.
    """
    found = result(tool, raw, limits)
    return found.status, found.text
