"""
A history that a call of Anthropic's or OpenAI's SDK sends as bytes that are ready.

The SDKs walk, copy and encode the whole body in every call, so that a call costs more the longer its conversation is.
Here `create` is given an empty history: what it makes of all else is encoded, the true history is put in, and the SDK's
client posts both as content. Address, headers, keys, hooks and the readers of the reply stay the SDK's own.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import FunctionType
from typing import TypeVar, cast

from attrs import frozen

from rodada.providers.history import History
from rodada.statemachine.jsontext import JsonValue, dump_json

ResourceT = TypeVar("ResourceT")
EXTRA = "extra_json"  # what the SDKs call `extra_body` among the options of a request


def is_sdks_own(sdk: str, *methods: object) -> bool:
    """
    Whether methods are functions of the SDK itself: what tracers put in the place of one looks into what it is given.
    """
    return all(type(each) is FunctionType and each.__globals__["__name__"].split(".")[0] == sdk for each in methods)


def sending(history: History, resource: ResourceT, client: object, left_out: tuple[type, ...]) -> ResourceT:
    """
    A resource of the SDK whose `create` takes an empty list for the history and sends the true one.

    Args:
        history: that is sent.
        resource: of the client.
        client: of the SDK; it must not look into the bodies that it sends.
        left_out: the SDK's types of arguments that were not given.
    """
    made_of = cast("Callable[[object], ResourceT]", type(resource))
    return made_of(_Posting(client, history, left_out))


@frozen
class _Posting:
    """
    The SDK's client, but what is posted through it has the history put in.
    """

    _client: object
    _history: History
    _left_out: tuple[type, ...]

    def __getattr__(self, name: str) -> object:
        if name == "request":  # the other way to send something: it would go without its history
            raise AttributeError(name)
        return getattr(self._client, name)

    async def post(
        self, path: str, *, body: Mapping[str, object], options: Mapping[str, object], **more: object
    ) -> object:
        """
        As the SDK's own.
        """
        post = cast("Callable[..., Awaitable[object]]", getattr(self._client, "post"))  # noqa: B009
        extra = cast("Mapping[str, object]", options.get(EXTRA) or {})
        content = self._content({**body, **extra})
        if content is None:
            whole = {**extra, self._history.name: self._history.value}
            return await post(path, body=body, options={**options, EXTRA: whole}, **more)
        others = {name: value for name, value in options.items() if name != EXTRA}
        return await post(path, content=content, options=others, **more)

    def _content(self, body: Mapping[str, object]) -> bytes | None:
        """
        The body as the SDK would send it; None where something in it is no plain JSON, for which the SDK has ways of
        its own.
        """
        given = {name: value for name, value in body.items() if not isinstance(value, self._left_out)}
        given.pop(self._history.name)
        try:
            others = dump_json(cast(JsonValue, given)).encode()
        except TypeError:
            return None
        return self._history.between(others[:-1] + f',"{self._history.name}":'.encode(), b"}")
