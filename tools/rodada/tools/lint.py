"""
Which tools should leave the loop: those whose source shows that their arguments alone decide the result.

The source is read, never run. Two things are told apart: evidence, such as a call of `open`, and doubt, such as a name
whose source is elsewhere. A tool without either is work that code can do; one that says `deterministic=True` and has
evidence against it says too much.
"""

import ast
import enum
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TypeAlias

from attrs import Factory, define, field, frozen

from rodada.tools.errors import ToolLoadError
from rodada.tools.purity import MUTATORS, of_builtin, of_dotted, of_method

LOOKED_FOR = "I/O, clock, randomness, await, shared state"
TOOL = ("rodada.tools.tool", "rodada.tools.decorator.tool")
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Verdict(enum.Enum):
    """
    What a tool's source says of it.
    """

    LEAVES = "should_leave_the_loop"
    DECLARED = "leaves_the_loop"
    DECLARED_WRONGLY = "declared_deterministic_but_is_not"
    STAYS = "stays"
    UNDECIDED = "undecided"


@frozen(order=True)
class Fact:
    """
    Something that a source does, and in which line.
    """

    line: int
    what: str


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
            return Verdict.DECLARED_WRONGLY if self.evidence else Verdict.DECLARED
        if self.evidence:
            return Verdict.STAYS
        return Verdict.UNDECIDED if self.doubts else Verdict.LEAVES

    @property
    def is_finding(self) -> bool:
        """
        Whether something should be changed.
        """
        return self.verdict in (Verdict.LEAVES, Verdict.DECLARED_WRONGLY)

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
        raise ToolLoadError(spec, f"is no Python: {error.msg} in line {error.lineno}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ToolLoadError(spec, f"is no Python that can be read ({type(error).__name__})") from None
    if not judged:
        raise ToolLoadError(spec, "no tools in it: decorate its functions with @tool from rodada.tools")
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
    module = _Module.of(tree)
    found = {each.node: each for each in (*_decorated(tree, module), *_made(tree, module))}
    return tuple(_judged(each, module) for each in sorted(found.values(), key=lambda each: each.node.lineno))


@frozen(eq=False)
class _Found:
    """
    A function that is a tool.
    """

    node: Function
    options: Mapping[str, object]


@define(eq=False)
class _Module:
    """
    What the names of a source stand for.

    Attributes:
        imports: dotted name of each imported one.
        definitions: functions and classes.
        values: what is assigned to each other name.
        changed: names whose values are changed somewhere.
    """

    imports: dict[str, str] = field(factory=dict[str, str])
    definitions: dict[str, Definition] = field(factory=dict[str, Definition])
    values: dict[str, ast.expr] = field(factory=dict[str, ast.expr])
    changed: set[str] = field(factory=set[str])

    @classmethod
    def of(cls, tree: ast.Module) -> "_Module":
        """
        The names of a whole source.
        """
        module = cls()
        for statement in _top_level(tree.body):
            module._note(statement)
        module.changed |= {name for node in ast.walk(tree) for name in _changes(node)}
        return module

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom():
                self.imports.update(_imported(statement))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.definitions[statement.name] = statement
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value)
            case _:
                pass

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            if target.id in self.values:
                self.changed.add(target.id)
            self.values[target.id] = value

    def dotted(self, node: ast.expr, imports: Mapping[str, str] | None = None) -> str | None:
        """
        The imported thing that `name` or `name.name` stands for.
        """
        match node:
            case ast.Name(id=name):
                return (imports or {}).get(name) or self.imports.get(name)
            case ast.Attribute(value=value, attr=attr):
                before = self.dotted(value, imports)
                return None if before is None else f"{before}.{attr}"
            case _:
                return None


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _top_level(each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt))
        for handler in statement.handlers if isinstance(statement, ast.Try) else ():
            yield from _top_level(handler.body)


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    if isinstance(statement, ast.ImportFrom):
        source = "." * statement.level + (statement.module or "")
        yield from ((each.asname or each.name, f"{source}.{each.name}") for each in statement.names)
        return
    for each in statement.names:
        first = each.name.split(".")[0]
        yield (each.asname, each.name) if each.asname else (first, first)


def _changes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Global(names=names):
            yield from names
        case (
            ast.Subscript(value=value, ctx=ast.Store() | ast.Del())
            | ast.Attribute(value=value, ctx=ast.Store() | ast.Del())
        ):
            yield from _root(value)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in MUTATORS:
            yield from _root(value)
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case _:
            pass


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _decorated(tree: ast.Module, module: _Module) -> Iterator[_Found]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (_Found(node, _options(each)) for each in node.decorator_list if _is_tool(each, module))


def _made(tree: ast.Module, module: _Module) -> Iterator[_Found]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func, args=[ast.Name(id=name)]) if _is_tool(func, module):
                function = module.definitions.get(name)
                if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield _Found(function, _options(func))
            case _:
                pass


def _is_tool(node: ast.expr, module: _Module) -> bool:
    return module.dotted(node.func if isinstance(node, ast.Call) else node) in TOOL


def _options(node: ast.expr) -> Mapping[str, object]:
    keywords = node.keywords if isinstance(node, ast.Call) else ()
    return {
        each.arg: each.value.value for each in keywords if each.arg is not None and isinstance(each.value, ast.Constant)
    }


def _judged(found: _Found, module: _Module) -> Judged:
    reader = _Reader(module)
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


@define(eq=False)
class _Reader(ast.NodeVisitor):
    """
    Reads a function and everything of its module that it uses.

    Attributes:
        evidence, doubts: so far.
    """

    module: _Module
    evidence: set[Fact] = field(init=False, default=Factory(set[Fact]))
    doubts: set[Fact] = field(init=False, default=Factory(set[Fact]))
    _read: set[str | ast.AST] = field(init=False, default=Factory(set[str | ast.AST]))
    _bound: frozenset[str] = field(init=False, default=frozenset())
    _imports: dict[str, str] = field(init=False, default=Factory(dict[str, str]))

    def define(self, node: Definition) -> None:
        """
        Read a function or class, once, with the names that it binds itself.
        """
        if node in self._read:
            return
        self._read.add(node)
        around, self._bound = self._bound, _bound(node)
        imports, self._imports = self._imports, _own_imports(node)
        for part in _parts(node, self.module):
            self.visit(part)
        self._bound, self._imports = around, imports

    def visit_Await(self, node: ast.Await) -> None:
        """
        Awaiting is how async code does I/O.
        """
        self._prove(node, "awaits")
        self.generic_visit(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        """
        As awaiting.
        """
        self._prove(node, "awaits (async for)")
        self.generic_visit(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        """
        As awaiting.
        """
        self._prove(node, "awaits (async with)")
        self.generic_visit(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """
        What it changes may belong to a function around the tool.
        """
        self._doubt(node, f"changes {', '.join(node.names)}, which may outlive the call")

    def visit_arguments(self, node: ast.arguments) -> None:
        """
        A default that is changed lives on in the next call.
        """
        every = [*node.posonlyargs, *node.args]
        placed = every[len(every) - len(node.defaults) :]
        named = zip((*placed, *node.kwonlyargs), (*node.defaults, *node.kw_defaults), strict=False)
        for parameter, default in named:
            if isinstance(default, ast.List | ast.Dict | ast.Set) and parameter.arg in self.module.changed:
                self._prove(default, f"changes the default of {parameter.arg}, which all calls share")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """
        The annotation of a variable does nothing.
        """
        for part in (node.target, node.value):
            if part is not None:
                self.visit(part)

    def visit_Call(self, node: ast.Call) -> None:
        """
        A method is judged by its name where its object is not known.
        """
        if isinstance(node.func, ast.Attribute) and self._dotted(node.func) is None:
            kind = of_method(node.func.attr)
            if kind:
                self._prove(node, f"calls .{node.func.attr}(), which depends on {kind}")
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """
        `module.name` is judged as one name.
        """
        dotted = self._dotted(node)
        if dotted is None:
            self.generic_visit(node)
        else:
            self._use(node, dotted)

    def visit_Name(self, node: ast.Name) -> None:
        """
        Every name that is read is judged, called or not.
        """
        if node.id in self._bound and self._dotted(node) is None:
            return
        dotted = self._dotted(node)
        if dotted is not None:
            self._use(node, dotted)
        elif node.id in self.module.definitions:
            self.define(self.module.definitions[node.id])
        elif node.id in self.module.values:
            self._value(node)
        else:
            self._builtin(node)

    def generic_visit(self, node: ast.AST) -> None:
        """
        Changing what belongs to the module is evidence wherever it stands.
        """
        for name in _changes(node):
            if isinstance(node, ast.Global) or (name not in self._bound and name in self.module.values):
                self._prove(node, f"changes {name} of the module")
        super().generic_visit(node)

    def _dotted(self, node: ast.expr) -> str | None:
        root = next(_root(node), "")
        if root in self._bound and root not in self._imports:
            return None
        return self.module.dotted(node, self._imports)

    def _use(self, node: ast.expr, dotted: str) -> None:
        kind = of_dotted(dotted)
        if kind is None:
            self._doubt(node, f"uses {dotted}, whose source is elsewhere")
        elif kind:
            self._prove(node, f"uses {dotted}, which depends on {kind}")

    def _value(self, node: ast.Name) -> None:
        value = self.module.values[node.id]
        if node.id in self.module.changed:
            self._doubt(node, f"uses {node.id}, which the module changes")
        elif any(isinstance(part, ast.Call) and self._is_own(part.func) for part in ast.walk(value)):
            self._doubt(node, f"uses {node.id}, an object that may change")
        if node.id not in self._read:
            self._read.add(node.id)
            around, self._bound = self._bound, _bound(value)
            self.visit(value)
            self._bound = around

    def _is_own(self, function: ast.expr) -> bool:
        return isinstance(function, ast.Name) and function.id in self.module.definitions

    def _builtin(self, node: ast.Name) -> None:
        kind = of_builtin(node.id)
        if kind is None:
            self._doubt(node, f"uses {node.id}, which is not defined in this source")
        elif kind:
            self._prove(node, f"uses {node.id}, which depends on {kind}")

    def _prove(self, node: ast.AST, what: str) -> None:
        self.evidence.add(Fact(getattr(node, "lineno", 0), what))

    def _doubt(self, node: ast.AST, what: str) -> None:
        self.doubts.add(Fact(getattr(node, "lineno", 0), what))


def _parts(node: Definition, module: _Module) -> Iterator[ast.AST]:
    yield from (each for each in node.decorator_list if not _is_tool(each, module))
    if isinstance(node, ast.ClassDef):
        yield from (*node.bases, *node.keywords)
    else:
        # What a parameter's class does, its methods may do in the tool.
        yield node.args
    yield from node.body


def _bound(node: ast.AST) -> frozenset[str]:
    inner = [each for each in ast.walk(node) if each is not node]
    names = {name for each in inner for name in _binds(each)}
    return frozenset(names - {name for each in inner if isinstance(each, ast.Global) for name in each.names})


def _binds(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            pass


def _own_imports(node: ast.AST) -> dict[str, str]:
    statements = (each for each in ast.walk(node) if isinstance(each, ast.Import | ast.ImportFrom))
    return {name: dotted for each in statements for name, dotted in _imported(each)}
