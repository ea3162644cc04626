"""
What a function of a source does, and everything of that source that it uses. Two things are told apart: evidence, such
as a call of `open`, and doubt, such as a name whose source is elsewhere.
"""

import ast
from collections.abc import Iterator

from attrs import Factory, define, field, frozen

from rodada.tools.purity import of_builtin, of_dotted, of_method
from rodada.tools.source_names import Definition, Module, changed_names, imported_names, root_name


@frozen(order=True)
class Fact:
    """
    Something that a source does, and in which line.
    """

    line: int
    what: str


@define(eq=False)
class Reader(ast.NodeVisitor):
    """
    Reads a function and everything of its module that it uses.

    Attributes:
        evidence, doubts: so far.
    """

    module: Module
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
        for name in changed_names(node):
            if isinstance(node, ast.Global) or (name not in self._bound and name in self.module.values):
                self._prove(node, f"changes {name} of the module")
        super().generic_visit(node)

    def _dotted(self, node: ast.expr) -> str | None:
        root = next(root_name(node), "")
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


def _parts(node: Definition, module: Module) -> Iterator[ast.AST]:
    yield from (each for each in node.decorator_list if not module.makes_tool(each))
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
    return {name: dotted for each in statements for name, dotted in imported_names(each)}
