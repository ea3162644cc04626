"""
Which tools should leave the loop: those whose source shows that their arguments alone decide the result.

The source is read, never run. A tool with neither evidence nor doubt against that is work that code can do; one that
says `deterministic=True` and has evidence against it says too much.
"""

import ast
import enum
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

from rodada.tools.errors import NO_TOOLS, ToolLoadError
from rodada.tools.source_names import Module
from rodada.tools.source_reader import Fact, Reader

LOOKED_FOR = "I/O, clock, randomness, await, shared state"
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class Verdict(enum.Enum):
    """
    What a tool's source says of it.
    """

    SHOULD_LEAVE = "should_leave_the_loop"
    LEAVES = "leaves_the_loop"
    DECLARED_WRONGLY = "declared_deterministic_but_is_not"
    STAYS = "stays"
    UNDECIDED = "undecided"


@frozen
class Judged:
    """
    One tool, as its source was read.

    Attributes:
        name: of the tool.
        line, last_line: of its function.
        declared: whether it says `deterministic=True`.
        evidence: what shows that its result depends on more than its arguments.
        doubts: what could not be seen through.
    """

    name: str
    line: int
    last_line: int
    declared: bool
    evidence: tuple[Fact, ...] = ()
    doubts: tuple[Fact, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """
        What follows for the tool.
        """
        if self.declared:
            return Verdict.DECLARED_WRONGLY if self.evidence else Verdict.LEAVES
        if self.evidence:
            return Verdict.STAYS
        return Verdict.UNDECIDED if self.doubts else Verdict.SHOULD_LEAVE

    @property
    def is_finding(self) -> bool:
        """
        Whether something should be changed.
        """
        return self.verdict in (Verdict.SHOULD_LEAVE, Verdict.DECLARED_WRONGLY)

    @property
    def reason(self) -> str:
        """
        What was looked for, and what was found.
        """
        found = self.evidence or (() if self.declared else self.doubts)
        told = "; ".join(f"line {fact.line}: {fact.what}" for fact in found)
        return told or f"looked for {LOOKED_FOR} in lines {self.line} to {self.last_line}: nothing found"


def lint_tools(spec: str) -> tuple[Judged, ...]:
    """
    Every tool in a file (`path/to/tools.py`) or module (`package.tools`), judged by its source, in its order.

    Raises:
        ToolLoadError: it is missing, is no Python, or has no tools.
    """
    try:
        tree = ast.parse(_path(spec).read_bytes())
        judged = judge(tree)
    except OSError as error:
        raise ToolLoadError(spec, f"cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        place = "" if error.lineno is None else f" in line {error.lineno}"
        raise ToolLoadError(spec, f"is no Python: {error.msg}{place}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ToolLoadError(spec, f"is no Python that can be read ({type(error).__name__})") from None
    if not judged:
        raise ToolLoadError(spec, NO_TOOLS)
    return judged


def _path(spec: str) -> Path:
    if spec.endswith(".py"):
        return Path(spec).expanduser()
    # Not importlib.util.find_spec: it runs the packages around a module.
    places, origin = [str(Path.cwd()), *sys.path], None
    for part in spec.split("."):
        found = PathFinder.find_spec(part, places)
        places = [] if found is None else list(found.submodule_search_locations or ())
        origin = None if found is None else found.origin
    if origin is None or not origin.endswith(".py"):
        raise ToolLoadError(spec, "there is no such module, or it has no source")
    return Path(origin)


def judge(tree: ast.Module) -> tuple[Judged, ...]:
    """
    The tools of a parsed source, in its order.
    """
    module = Module.of(tree)
    found = {each.node: each for each in (*_decorated(tree, module), *_made(tree, module))}
    return tuple(_judged(each, module) for each in sorted(found.values(), key=lambda each: each.node.lineno))


@frozen(eq=False)
class _Found:
    """
    A function that is a tool.
    """

    node: Function
    options: Mapping[str, object]


def _decorated(tree: ast.Module, module: Module) -> Iterator[_Found]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (_Found(node, _options(each)) for each in node.decorator_list if module.makes_tool(each))


def _made(tree: ast.Module, module: Module) -> Iterator[_Found]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func, args=[ast.Name(id=name)]) if module.makes_tool(func):
                function = module.definitions.get(name)
                if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield _Found(function, _options(func))
            case _:
                pass


def _options(node: ast.expr) -> Mapping[str, object]:
    keywords = node.keywords if isinstance(node, ast.Call) else ()
    return {
        each.arg: each.value.value for each in keywords if each.arg is not None and isinstance(each.value, ast.Constant)
    }


def _judged(found: _Found, module: Module) -> Judged:
    reader = Reader(module)
    reader.define(found.node)
    name = found.options.get("name")
    return Judged(
        name if isinstance(name, str) else found.node.name,
        found.node.lineno,
        found.node.end_lineno or found.node.lineno,
        found.options.get("deterministic") is True,
        tuple(sorted(reader.evidence)),
        tuple(sorted(reader.doubts)),
    )
