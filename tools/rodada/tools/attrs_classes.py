"""
attrs classes as types of arguments: pydantic checks a form with the same fields, and the instance is made of that.
"""

import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

import attrs
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model


class Forms:
    """
    The forms of the attrs classes in some types. Forms refer to one another by made-up names, since a class may
    hold itself; `namespace` says what the names mean.

    Args:
        names: names known where the classes were written, beside those of their modules.
    """

    def __init__(self, names: Mapping[str, object]) -> None:
        self.namespace: dict[str, type[BaseModel]] = {}
        self._names = names
        self._references: dict[type, object] = {}

    def of(self, annotation: Any) -> Any:
        """
        The type with a form in the place of each attrs class; the type itself where it holds none.

        Raises:
            TypeError: a field of an attrs class has no type.
        """
        if isinstance(annotation, type) and _needs_form(annotation):
            return self._reference(annotation)
        origin, parts = get_origin(annotation), get_args(annotation)
        if origin is None or origin is typing.Literal:
            return annotation
        if origin is Annotated:
            return Annotated[(self.of(parts[0]), *parts[1:])]
        made = tuple(self.of(part) for part in parts)
        if made == parts:
            return annotation
        return Union[made] if origin is types.UnionType else origin[made]  # noqa: UP007

    def _reference(self, kind: type) -> object:
        if kind not in self._references:
            name = f"rodada_form_{len(self._references)}"
            given = {f"f{at}": each for at, each in enumerate(attrs.fields(kind)) if each.init}
            build = AfterValidator(_builder(kind, {field: _outer_name(each) for field, each in given.items()}))
            # Known before the fields are looked at: one of them may be of the same class.
            self._references[kind] = Annotated[typing.ForwardRef(name), build]
            self.namespace[name] = self._form(kind, given)
        return self._references[kind]

    def _form(self, kind: type, given: Mapping[str, "attrs.Attribute[Any]"]) -> type[BaseModel]:
        hints = typing.get_type_hints(kind, None, {**self._names, kind.__name__: kind}, include_extras=True)
        fields: dict[str, Any] = {
            field: (self.of(_type_of(kind, each, hints)), form_field(_outer_name(each), _default(each)))
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


def _needs_form(kind: type) -> bool:
    return attrs.has(kind) and not hasattr(kind, "__get_pydantic_core_schema__")


def _type_of(kind: type, field: "attrs.Attribute[Any]", hints: Mapping[str, object]) -> object:
    found = hints.get(field.name, field.type)
    if found is None:
        raise TypeError(f"field {field.name!r} of {kind.__name__} has no type: annotate it")
    return found


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
