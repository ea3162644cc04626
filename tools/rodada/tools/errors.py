"""
The errors of tools: one that a tool raises on purpose, two for whoever defines or loads tools.
"""

from rodada.statemachine.errors import LoopError


class ToolError(LoopError):
    """
    Raised, or returned, by a tool to fail with a text that the model may read. The text of any other exception
    is withheld: it may carry secrets.
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


class ToolLoadError(LoopError):
    """
    No tools can be loaded from a file or module.

    Attributes:
        spec: the file or module as asked for.
    """

    def __init__(self, spec: str, message: str) -> None:
        super().__init__(f"tools of {spec}: {message}")
        self.spec = spec
