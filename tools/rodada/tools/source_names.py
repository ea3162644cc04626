"""
What the names of a Python source stand for, as far as the source itself tells. It is read, never run.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from attrs import define, field

from rodada.tools.purity import MUTATORS

TOOL = ("rodada.tools.tool", "rodada.tools.decorator.tool")
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@define(eq=False)
class Module:
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
    def of(cls, tree: ast.Module) -> "Module":
        """
        The names of a whole source.
        """
        module = cls()
        for statement in _top_level(tree.body):
            module._note(statement)
        module.changed |= {name for node in ast.walk(tree) for name in changed_names(node)}
        return module

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom():
                self.imports.update(imported_names(statement))
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

    def makes_tool(self, node: ast.expr) -> bool:
        """
        Whether this is `@tool`, called or not.
        """
        return self.dotted(node.func if isinstance(node, ast.Call) else node) in TOOL

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


def imported_names(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """
    The names that an import binds, each with the dotted name that it stands for.
    """
    if isinstance(statement, ast.ImportFrom):
        source = "." * statement.level + (statement.module or "")
        yield from ((each.asname or each.name, f"{source}.{each.name}") for each in statement.names)
        return
    for each in statement.names:
        first = each.name.split(".")[0]
        yield (each.asname, each.name) if each.asname else (first, first)


def changed_names(node: ast.AST) -> Iterator[str]:
    """
    The names whose values a node changes.
    """
    match node:
        case ast.Global(names=names):
            yield from names
        case (
            ast.Subscript(value=value, ctx=ast.Store() | ast.Del())
            | ast.Attribute(value=value, ctx=ast.Store() | ast.Del())
        ):
            yield from root_name(value)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in MUTATORS:
            yield from root_name(value)
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case _:
            pass


def root_name(node: ast.expr) -> Iterator[str]:
    """
    The `name` of `name.name[0]`, if it has one.
    """
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
