"""
The errors of tools: two that a tool raises on purpose, the others for whoever defines, loads or opens tools.
"""

from rodada.statemachine.errors import LoopError

NO_TOOLS = "no tools in it: decorate its functions with @tool from rodada.tools"


class ToolError(LoopError):
    """
    Raised, or returned, by a tool to fail with a text that the model may read. The text of any other exception
    is withheld: it may carry secrets.
    """


class OutcomeUnknown(ToolError):
    """
    Raised by a tool that began something and lost sight of it, such as a request whose answer never came: the call
    ends as "outcome unknown" instead of failed, for it may have taken effect. The text may be read by the model.
    """


class ToolDefinitionError(LoopError):
    """
    A function cannot be a tool as it is written.

    Attributes:
        place: module, qualified name and line of the function.
        parameter: the parameter it is about; "" when it is about the whole.
    """

    def __init__(self, place: str, message: str, parameter: str = "") -> None:
        about = f"parameter {parameter!r}: " if parameter else ""
        super().__init__(f"{place} cannot be a tool: {about}{message}")
        self.place = place
        self.parameter = parameter


class McpError(LoopError):
    """
    An MCP server cannot be used.

    Attributes:
        server: its name.
    """

    def __init__(self, server: str, message: str) -> None:
        super().__init__(f"MCP server {server!r}: {message}")
        self.server = server


class McpUnavailable(McpError):
    """
    An MCP server cannot be started or reached, or does not keep to the protocol.
    """


class McpNotOpen(McpError):
    """
    An `McpToolbox` was used outside its block, or where its connection cannot be reached.
    """


class ToolLoadError(LoopError):
    """
    No tools can be loaded from a file or module.

    Attributes:
        spec: the file or module as asked for.
    """

    def __init__(self, spec: str, message: str) -> None:
        super().__init__(f"tools of {spec}: {message}")
        self.spec = spec
