"""
The result of a call within the characters that its tool may tell; where it is cut, the host is handed the whole one.
"""

from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import Part, Status, ToolRequest, ToolResult
from rodada.tools.cutting import cut_parts
from rodada.tools.hooks import tell
from rodada.tools.options import Options


def fitted(
    request: ToolRequest, status: Status, parts: tuple[Part, ...], options: Options, limits: Limits
) -> ToolResult:
    """
    The result that is told: all of the parts, or their beginning with a mark that tells the whole length. `on_cut` is
    told before it.
    """
    kept = cut_parts(parts, options.result_chars(limits.max_result_chars))
    if kept is not parts and options.on_cut is not None:
        tell(options.on_cut, "on_cut", request, ToolResult.with_parts(request, status, parts))
    return ToolResult.with_parts(request, status, kept)
