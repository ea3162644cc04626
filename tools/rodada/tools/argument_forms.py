"""
Types of arguments that pydantic does not take as they stand, in a form that it takes.

An attrs class becomes a pydantic model with the same fields, from which the instance is then made. Three more have
forms of their own: enum members in a `Literal`; an alias of such a type; and a `TypedDict`, which may hold an attrs
class, and which pydantic takes only from typing_extensions before Python 3.12.
"""

import contextlib
import enum
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import attrs
import typing_extensions
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from rodada.tools.context import Context

REQUIRED, NOT_REQUIRED = typing_extensions.Required, typing_extensions.NotRequired
MARKS = (REQUIRED, NOT_REQUIRED, typing_extensions.ReadOnly)


EXTRA = "extra_items"
NO_MORE = typing_extensions.NoExtraItems


class Forms:
    """
    The forms of the attrs classes in some types. Forms refer to one another by made-up names, since a class may
    hold itself; `namespace` says what the names mean.

    Args:
        names: names known where the classes were written, beside those of their modules.
    """

    def __init__(self, names: Mapping[str, object]) -> None:
        self.namespace: dict[str, object] = {}
        self._names = names
        self._references: dict[object, object] = {}
        self._named: list[object] = []  # types by another name that are looked into

    def of(self, annotation: Any) -> Any:
        """
        The type with a form in the place of each attrs class; the type itself where it holds none.

        Raises:
            TypeError: a field of an attrs class has no type, or a `Context` stands inside a type.
        """
        origin, parts = get_origin(annotation), get_args(annotation)
        if _is_typed_dict(annotation):
            return self._typed_dict(annotation)
        if (origin or annotation) is Context:
            raise TypeError("a Context is given by the engine alone: let it be the whole type of a parameter")
        if _needs_form(origin or annotation):
            return self._reference(annotation, origin or annotation, parts)
        if origin is None:
            return self._behind(annotation)
        if origin is Literal:
            return _with_members(annotation, parts)
        if origin is Annotated:
            return Annotated[(self.of(parts[0]), *parts[1:])]
        made: tuple[Any, ...] = tuple(self.of(part) for part in parts)
        if made == parts:
            return annotation
        if origin is types.UnionType:
            return Union[made]  # noqa: UP007
        one, *others = made
        return origin[made if others else one]

    def _behind(self, annotation: Any) -> Any:
        """
        The form of the type that a name stands for; the name itself where that holds none, or holds the name.
        """
        kind = getattr(annotation, "__value__", getattr(annotation, "__supertype__", None))
        if kind is None or annotation in self._named:
            return annotation
        self._named.append(annotation)
        made = self.of(kind)
        self._named.pop()
        return annotation if made == kind else made

    def _reference(self, annotation: object, kind: type, parts: tuple[object, ...]) -> object:
        if annotation not in self._references:
            name = f"rodada_form_{len(self._references)}"
            given = {f"f{at}": each for at, each in enumerate(attrs.fields(kind)) if each.init}
            build = AfterValidator(_builder(kind, {field: _outer_name(each) for field, each in given.items()}))
            # Known before the fields are looked at: one of them may be of the same class.
            self._references[annotation] = Annotated[typing.ForwardRef(name), build]
            self.namespace[name] = self._form(kind, given, parts)
        return self._references[annotation]

    def _typed_dict(self, kind: Any) -> object:
        if kind not in self._references:
            name = f"rodada_form_{len(self._references)}"
            self._references[kind] = typing.ForwardRef(name)
            fields = {key: self._marked(kind, key, hint) for key, hint in self._hints(kind).items()}
            # Built by a call: a class statement would take its keys from here.
            further = self._further_keys(kind)
            made = cast(Any, typing_extensions.TypedDict)(kind.__name__, fields, **further)
            made.__doc__, made.__module__ = kind.__doc__, kind.__module__
            config = {**getattr(kind, "__pydantic_config__", {}), **({"extra": "allow"} if EXTRA in further else {})}
            if config:
                made.__pydantic_config__ = config
            self.namespace[name] = made
        return self._references[kind]

    def _further_keys(self, kind: Any) -> Mapping[str, object]:
        # Of one that is made by typing_extensions or a newer Python (PEP 728).
        closed, extra = getattr(kind, "__closed__", None), getattr(kind, "__extra_items__", NO_MORE)
        more: dict[str, object] = {} if extra is NO_MORE else {EXTRA: self.of(extra)}
        return more if closed is None else {**more, "closed": closed}

    def _marked(self, kind: Any, key: str, hint: Any) -> object:
        marks: set[object] = set()
        while (mark := get_origin(hint)) in MARKS:
            marks.add(mark)
            (hint,) = get_args(hint)
        # Python alone knows a mark inside another one only where both are of its own making.
        required = REQUIRED in marks or (NOT_REQUIRED not in marks and key in kind.__required_keys__)
        return (REQUIRED if required else NOT_REQUIRED)[self.of(hint)]

    def _given_type(self, kind: type, field: "attrs.Attribute[Any]", hints: Mapping[str, object]) -> object:
        """
        What the class takes for a field: of one with a converter, what that takes, where it says so.
        """
        converter = _converter(field)
        if converter is not None:
            with contextlib.suppress(TypeError, ValueError, NameError):
                name = next(iter(inspect.signature(converter).parameters), "")
                taken = typing.get_type_hints(converter, None, dict(self._names), include_extras=True)
                if name in taken:
                    return taken[name]
        return _type_of(kind, field, hints)

    def _hints(self, kind: type) -> Mapping[str, Any]:
        return typing.get_type_hints(kind, None, {**self._names, kind.__name__: kind}, include_extras=True)

    def _form(
        self, kind: type, given: Mapping[str, "attrs.Attribute[Any]"], parts: tuple[object, ...]
    ) -> type[BaseModel]:
        hints = self._hints(kind)
        meant = _meant_in(kind, parts)
        fields: dict[str, Any] = {
            field: (
                self.of(_meant(self._given_type(kind, each, hints), meant[_owner(kind, each)])),
                form_field(_outer_name(each), _default(each)),
            )
            for field, each in given.items()
        }
        return create_model(
            kind.__name__,
            __config__=ConfigDict(extra="forbid", allow_inf_nan=False),
            __doc__=kind.__doc__,
            __module__=kind.__module__,
            **fields,
        )


def form_field(name: str, default: Mapping[str, Any]) -> Any:
    """
    A field of pydantic that is known by a name outside and may be called anything inside.
    """
    return Field(alias=name, validation_alias=name, serialization_alias=name, **default)


def _needs_form(kind: Any) -> bool:
    return isinstance(kind, type) and attrs.has(kind) and not hasattr(kind, "__get_pydantic_core_schema__")


def _with_members(annotation: object, parts: tuple[object, ...]) -> object:
    """
    A Literal whose enum members stand for their values: pydantic would name the values in the schema and then
    accept the members only, which no JSON can be.
    """
    members: dict[object, enum.Enum] = {
        (type(each.value), each.value): each for each in parts if isinstance(each, enum.Enum)
    }
    if not members:
        return annotation
    values = tuple(each.value if isinstance(each, enum.Enum) else each for each in parts)

    def member(value: object) -> object:
        return members.get((type(value), value), value)

    return Annotated[Literal[values], AfterValidator(member)]


def _is_typed_dict(kind: object) -> bool:
    # A generic one is known with its types only, where it is left to pydantic.
    return typing_extensions.is_typeddict(kind) and not getattr(kind, "__parameters__", ())


def _meant_in(kind: Any, parts: tuple[object, ...]) -> Mapping[object, Mapping[Any, object]]:
    """
    What the variables mean in a class and in each class below it, which the same variable may stand in.
    """
    meant = dict(zip(getattr(kind, "__parameters__", ()), parts, strict=False))
    found: dict[object, Mapping[Any, object]] = {kind: meant}
    bases = cast("tuple[Any, ...]", kind.__dict__.get("__orig_bases__", kind.__bases__))
    for base in bases:
        origin: Any = get_origin(base) or base
        if _needs_form(origin):
            found = {**_meant_in(origin, tuple(_meant(part, meant) for part in get_args(base))), **found}
    return found


def _owner(kind: type, field: "attrs.Attribute[Any]") -> type:
    having = [each for each in kind.__mro__ if _needs_form(each) and field.name in attrs.fields_dict(each)]
    return next(each for each in having if not cast(Any, attrs.fields_dict(each)[field.name]).inherited)


def _meant(hint: Any, meant: Mapping[Any, object]) -> Any:
    """
    A type with those of a generic class's use in the place of its variables.
    """
    if hint in meant:
        return meant[hint]
    variables = getattr(hint, "__parameters__", ())
    return hint[tuple(meant.get(each, each) for each in variables)] if variables and get_origin(hint) else hint


def _type_of(kind: type, field: "attrs.Attribute[Any]", hints: Mapping[str, object]) -> object:
    found = hints.get(field.name, field.type)
    if found is None:
        raise TypeError(f"field {field.name!r} of {kind.__name__} has no type: annotate it")
    return found


def _converter(field: Any) -> Callable[..., object] | None:
    return cast("Callable[..., object] | None", getattr(field.converter, "converter", field.converter))


def _outer_name(field: "attrs.Attribute[Any]") -> str:
    return field.alias or field.name


def _default(field: "attrs.Attribute[Any]") -> Mapping[str, Any]:
    if field.default is attrs.NOTHING:
        return {}
    # A factory may want the instance; attrs calls it when the instance is made.
    is_made = hasattr(field.default, "takes_self")
    return {"default_factory": type(None)} if is_made else {"default": field.default}


def _builder(kind: type, names: Mapping[str, str]) -> Callable[[BaseModel], object]:
    def build(form: BaseModel) -> object:
        given = {names[field]: form.__dict__[field] for field in form.model_fields_set}
        try:
            return kind(**given)
        except (TypeError, ValueError) as error:
            # attrs' validators put the value, the field and more behind the sentence.
            raise ValueError(str(error.args[0]) if error.args else f"it is no {kind.__name__}") from None

    return build
