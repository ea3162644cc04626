"""
How servers that speak Chat Completions differ from OpenAI, where no answer of theirs shows it.
"""

from typing import Literal, TypeAlias, get_args

from attrs import field, frozen

from rodada.statemachine.errors import InvalidValue

Asked: TypeAlias = Literal["always", "without_tools", "never"]
OWN_FIELDS = frozenset({"role", "content", "refusal", "tool_calls", "function_call", "id", "type", "function", "index"})


@frozen
class Dialect:
    """
    What one server wants. The default is taken by OpenAI, and by servers that see images.

    Attributes:
        echoed: further fields of the model's messages and calls that the server wants back as it sent them, such as
            `reasoning_content` (DeepSeek and Kimi, thinking) or `extra_content` (Gemini's endpoint). OpenAI refuses
            every one. They are never shown, and no stored conversation has them without `reasoning=True`.
        old_limit: `max_output_tokens` goes as `max_tokens`, the only name that older servers know.
        short_ids: ids of calls have nine letters and digits, as Mistral's servers want.
        stream_usage: a streamed reply is asked for its usage; servers that do not know the question refuse it, and say
            their usage without it or not at all.
        images: images are sent, those of results in a message behind the results; else they are told as text, for
            models that see none.
        links: images at an address are sent as that, for the server to fetch; else they are told as text.
        files: PDF files are sent as images are, which OpenAI takes and few others do.
        json_schema: when the type of an answer is asked for by `response_format`. "without_tools" is for servers that
            call no tool while it is asked for (reported of vLLM and llama.cpp in 2026), "never" for those that do not
            know it (DeepSeek). Where it is not, the type is told in the instructions.

    Raises:
        InvalidValue: a field that the adapter sends itself, or another word for when a type is asked for.
    """

    echoed: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    old_limit: bool = False
    short_ids: bool = False
    stream_usage: bool = True
    images: bool = True
    links: bool = True
    files: bool = False
    json_schema: Asked = "always"

    def __attrs_post_init__(self) -> None:
        for name in self.echoed:
            if name in OWN_FIELDS:
                raise InvalidValue("Dialect.echoed", f"{name!r} is sent in any case: name further fields only")
        if self.json_schema not in get_args(Asked):
            raise InvalidValue(
                "Dialect.json_schema", f"takes {' or '.join(get_args(Asked))}, got {self.json_schema!r:.80}"
            )


OPENAI = Dialect()
