"""
Functions become tools: their schema, their checks, and one true result for every call.
"""

from rodada.tools.adopting import adopt as adopt
from rodada.tools.approval import Approval as Approval
from rodada.tools.context import Context as Context
from rodada.tools.decorator import Tool as Tool
from rodada.tools.decorator import tool as tool
from rodada.tools.errors import McpNotOpen as McpNotOpen
from rodada.tools.errors import McpUnavailable as McpUnavailable
from rodada.tools.errors import OutcomeUnknown as OutcomeUnknown
from rodada.tools.errors import ToolDefinitionError as ToolDefinitionError
from rodada.tools.errors import ToolError as ToolError
from rodada.tools.errors import ToolLoadError as ToolLoadError
from rodada.tools.loading import load_tools as load_tools
from rodada.tools.loops import LoopTool as LoopTool
from rodada.tools.loops import loop_tool as loop_tool
from rodada.tools.mcp import McpToolbox as McpToolbox
from rodada.tools.options import ToolOptions as ToolOptions
from rodada.tools.result_parts import ToolResultParts as ToolResultParts
from rodada.tools.threads import limit_threads as limit_threads
