"""
`@tool`: a function becomes a tool, and can still be called as the function that it is.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, overload

from attrs import evolve, field, frozen

from rodada.statemachine.jsontext import clean_text
from rodada.statemachine.messages import Status, Text, ToolRequest
from rodada.statemachine.plan import PlannedCall
from rodada.statemachine.ports import CallSetting, ToolCall
from rodada.statemachine.request import ToolDeclaration
from rodada.statemachine.scheduling import EVERYTHING, Touches
from rodada.statemachine.toolbox import AnsweredCall
from rodada.tools.approval import gated
from rodada.tools.arguments import Checks, Refusal, argument_model
from rodada.tools.calls import FunctionCall
from rodada.tools.context import Context
from rodada.tools.definitions import defined_place, legal_name
from rodada.tools.docstrings import read_docstring
from rodada.tools.fitting import fitted
from rodada.tools.options import Options, ToolOptions, options_of
from rodada.tools.signatures import Contexts, plain_function, signature_of

P = ParamSpec("P")
R = TypeVar("R")


@frozen
class Tool(Generic[P, R]):
    """
    A function that a model may ask for; build it with `tool` or `adopt`. It fits `rodada.statemachine.ports.AnyTool`.
    Two tools are equal when they tell the model the same, call the same function, and have the same options.

    Attributes:
        declaration: what the model is told.
        function: as it was given.
        arguments: checks what a model sends.
        options: what is said of it beside the function.
        contexts: the parameters that the engine gives.
    """

    declaration: ToolDeclaration
    function: Callable[P, R] = field(hash=False)
    arguments: Checks = field(repr=False, eq=False)
    options: Options = field(repr=False, default=Options())
    contexts: Contexts = field(repr=False, default=Contexts())

    @property
    def name(self) -> str:
        """
        The name that the model uses.
        """
        return self.declaration.name

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """
        Call the function as it is: nothing is checked, and exceptions are exceptions.
        """
        return self.function(*args, **kwargs)

    def planned(self, request: ToolRequest) -> PlannedCall | None:
        """
        Kind and approvals of a call; None when its arguments will be refused.
        """
        arguments = self.arguments.check(request)
        if isinstance(arguments, Refusal):
            return None
        call = PlannedCall(request.id, self.options.kind, deterministic=self.options.deterministic)
        return gated(call, self.options.needs_approval, arguments)

    def seconds(self, usual: float | None) -> float | None:
        """
        The tool's own time limit in seconds, or the usual one; None is unlimited.
        """
        return self.options.seconds(usual)

    @property
    def declared(self) -> bool:
        """
        Whether it was said which resources it touches.
        """
        return self.options.declared

    def touches(self, request: ToolRequest) -> Touches:
        """
        The resources that a call touches. Its arguments are checked for it only where they have a say.
        """
        always = self.options.always_touches
        if always is not None:
            return always
        arguments = self.arguments.check(request)
        return EVERYTHING if isinstance(arguments, Refusal) else self.options.touches(arguments)

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        """
        The call of a request, not yet running; with bad arguments one that is refused.
        """
        arguments = self.arguments.check(request)
        if isinstance(arguments, Refusal):
            why = Text(f"{self.name} was not run; its arguments: {arguments.text}.")
            return AnsweredCall(fitted(request, Status.FAILED, (why,), self.options, setting.limits))
        context = Context(setting.context, setting)
        given = {**arguments, **dict.fromkeys(self.contexts.named, context)}
        leading = (context,) * self.contexts.leading
        return FunctionCall(self.function, given, request, setting, self.options, leading)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    *, name: str | None = None, description: str | None = None, **options: Unpack[ToolOptions]
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ToolOptions],
) -> Tool[..., Any] | Callable[[Callable[..., Any]], Tool[..., Any]]:
    """
    Make a tool of a sync or async function: schema from its signature, descriptions from its docstring.

    A function without a docstring gets an empty description; with the extra `docstrings` what it says of parameters
    (in the style of Google, NumPy or Sphinx) goes to them, and its other sections to nobody. A sync function runs in
    a daemon thread of ours with the caller's context variables. What a tool raises becomes a failed result that
    names the exception's class only, unless it raises (or returns) `ToolError`. A parameter of type `Context[T]` is
    filled in by the engine.

    Args:
        name: instead of the function's own; letters, digits, "_" and "-", at most 64.
        description: instead of the docstring.
        options: as in `ToolOptions`.

    Raises:
        ToolDefinitionError: the function cannot be a tool as it is written, or an option is wrong.
    """
    names = _callers_names()

    def made(function: Callable[..., Any]) -> Tool[..., Any]:
        inner = function.__func__ if isinstance(function, staticmethod) else function
        place = defined_place(inner)
        return _tool(place, inner, name, description, options_of(place, inner, options), names)

    return made if function is None else made(function)


def _callers_names() -> Mapping[str, object]:
    # String annotations of a function written inside another one find their names among that one's locals.
    here = inspect.currentframe()
    caller = here and here.f_back and here.f_back.f_back
    return {} if caller is None else caller.f_locals


def _tool(
    place: str,
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    options: Options,
    names: Mapping[str, object],
) -> Tool[..., Any]:
    legal = legal_name(place, getattr(function, "__name__", "") if name is None else name)
    signature = signature_of(function, names)
    told = read_docstring(inspect.getdoc(plain_function(function)) or "")
    parameters = [evolve(each, description=told.parameters.get(each.name, "")) for each in signature.parameters]
    arguments = argument_model(legal, place, parameters, names)
    said = told.description if description is None else description
    declaration = ToolDeclaration(legal, clean_text(said).strip(), arguments.schema)
    return Tool(declaration, function, arguments, options, signature.contexts)
