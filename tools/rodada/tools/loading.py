"""
The tools of a file or module, for whoever names them in words, such as a command line.
"""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast

from rodada.statemachine.errors import LoopError
from rodada.statemachine.jsontext import digest_text
from rodada.tools.decorator import Tool
from rodada.tools.errors import NO_TOOLS, ToolLoadError
from rodada.tools.signatures import place_of
from rodada.tools.value_text import error_name

T = TypeVar("T")

AnyFunctionTool: TypeAlias = Tool[..., Any]
TELLING = (ImportError, SyntaxError, NameError)
LONGEST_MESSAGE = 200


def load_tools(spec: str) -> tuple[AnyFunctionTool, ...]:
    """
    Every tool in a file (`path/to/tools.py`) or module (`package.tools`), in the order of definition. The file or
    module is run: it is trusted code.

    Raises:
        ToolLoadError: it is missing, its import fails, it has no tools, or two of them share a name.
        ToolDefinitionError: a function in it cannot be a tool.
    """
    module = _from_file(spec) if spec.endswith(".py") else _from_module(spec)
    tools = tuple(dict.fromkeys(cast(AnyFunctionTool, each) for each in vars(module).values() if _is_tool(each)))
    if not tools:
        raise ToolLoadError(spec, NO_TOOLS)
    _check_names(spec, tools)
    return tools


def _from_file(spec: str) -> ModuleType:
    path = Path(spec).expanduser().resolve()
    if not path.is_file():
        raise ToolLoadError(spec, "there is no such file")
    name = f"rodada_tools_{digest_text(str(path))[:12]}"
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise ToolLoadError(spec, "Python cannot import it")
    module = importlib.util.module_from_spec(found)
    # Dataclasses and pydantic look their module up by name while it is being run.
    sys.modules[name] = module
    loader = found.loader
    try:
        _imported(spec, lambda: loader.exec_module(module))
    except LoopError:
        del sys.modules[name]
        raise
    return module


def _from_module(spec: str) -> ModuleType:
    if not all(part.isidentifier() for part in spec.split(".")):
        raise ToolLoadError(spec, "there is no such module")

    def run() -> ModuleType:
        try:
            return importlib.import_module(spec)
        except ModuleNotFoundError as error:
            if error.name and f"{spec}.".startswith(f"{error.name}."):
                raise ToolLoadError(spec, "there is no such module") from None
            raise

    return _imported(spec, run)


def _imported(spec: str, run: Callable[[], T]) -> T:
    try:
        return run()
    except LoopError:
        raise
    except (Exception, SystemExit) as error:
        # The message of any other exception may carry what the file connects to.
        told = f" ({error!s:.{LONGEST_MESSAGE}})" if isinstance(error, TELLING) else ""
        raise ToolLoadError(spec, f"importing it raised {error_name(error)}{told}{_where(error)}") from error


def _where(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f" in line {error.lineno}" if error.lineno is not None else ""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if frame.filename != __file__ and "<frozen importlib" not in frame.filename]
    return f" in line {theirs[0].lineno}" if theirs else ""


def _is_tool(value: object) -> bool:
    return isinstance(value, Tool)


def _check_names(spec: str, tools: tuple[AnyFunctionTool, ...]) -> None:
    first: dict[str, AnyFunctionTool] = {}
    for each in tools:
        if each.name in first:
            places = f"{place_of(first[each.name].function)} and {place_of(each.function)}"
            raise ToolLoadError(spec, f"two tools are named {each.name!r}: {places}; give one another name=")
        first[each.name] = each
