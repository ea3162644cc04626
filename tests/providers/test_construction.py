"""
The vendors' providers refuse the same wrong arguments, in the same words.
"""

from collections.abc import Callable, Mapping
from typing import Any

import openai
import pytest
from anthropic import AsyncAnthropic
from google.genai import Client
from google.genai.client import DebugConfig

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine.errors import InvalidValue, MissingKey

KEY = "sk-test"
VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
PROVIDERS: Mapping[str, Callable[..., object]] = {
    "Anthropic": Anthropic,
    "OpenAIResponses": OpenAIResponses,
    "OpenAIChat": OpenAIChat,
    "Google": Google,
}
CLIENTS: Mapping[str, Callable[[], Any]] = {
    "Anthropic": lambda: AsyncAnthropic(api_key=KEY),
    "OpenAIResponses": lambda: openai.AsyncOpenAI(api_key=KEY),
    "OpenAIChat": lambda: openai.AsyncOpenAI(api_key=KEY),
    "Google": lambda: Client(enterprise=False, api_key=KEY, debug_config=DebugConfig(client_mode="")).aio,
}
every_provider = pytest.mark.parametrize("name", PROVIDERS)


def refused(name: str, **arguments: object) -> str:
    with pytest.raises(InvalidValue) as caught:
        PROVIDERS[name](arguments.pop("model", "some-model"), **arguments)
    return str(caught.value)


@every_provider
@pytest.mark.parametrize("model", ["", " "])
def test_a_model_needs_a_name(name: str, model: str) -> None:
    assert refused(name, model=model, api_key=KEY) == f"{name}.model: must name a model"


@every_provider
@pytest.mark.parametrize(
    "base_url",
    ["", "localhost:8000", "ftp://h/", "https://", "http://:80/", "http://h:0/", "http://h:sk-secret/", "http://h\0/"],
)
def test_an_address_that_is_none_is_refused_and_not_shown(name: str, base_url: str) -> None:
    wanted = "http:// or https://, a host, and a port up to 65535 where one is needed"
    told = refused(name, api_key=KEY, base_url=base_url)
    assert told == f"{name}.base_url: takes {wanted}; the one that was given may be secret"


@every_provider
def test_a_turn_may_say_something(name: str) -> None:
    told = refused(name, api_key=KEY, max_output_tokens=0)
    assert told == f"{name}.max_output_tokens: must be at least 1, got 0"


@every_provider
def test_what_is_set_elsewhere_is_refused_and_the_place_named(name: str) -> None:
    told = refused(name, api_key=KEY, options={"tools": []})
    own = "" if name == "OpenAIChat" else ", and server_tools=... for those that the vendor runs itself"
    assert told == f"{name}.options['tools']: is set elsewhere: use ToolLoop(tools=...){own}"


@every_provider
@pytest.mark.parametrize("extra", [[1], "x"])
def test_an_extra_body_that_is_no_mapping_is_refused(name: str, extra: object) -> None:
    told = refused(name, api_key=KEY, options={"extra_body": extra})
    assert told == f"{name}.options['extra_body']: takes a mapping, not a {type(extra).__name__}"


@pytest.mark.parametrize("given", ["low", 5, ["low"]])
@pytest.mark.parametrize(("name", "option"), [("Anthropic", "output_config"), ("OpenAIResponses", "text")])
def test_an_option_beside_whose_fields_the_type_of_an_answer_stands_is_a_mapping(
    name: str, option: str, given: object
) -> None:
    for options in ({option: given}, {"extra_body": {option: given}}):
        told = refused(name, api_key=KEY, options=options)
        assert told == f"{name}.options[{option!r}]: takes a mapping, not a {type(given).__name__}"


@every_provider
@pytest.mark.parametrize("beside", [{"api_key": KEY}, {"base_url": "http://127.0.0.1:9"}], ids=str)
def test_a_key_or_an_address_beside_a_client_is_refused(name: str, beside: dict[str, object]) -> None:
    told = refused(name, client=CLIENTS[name](), **beside)
    assert told == f"{name}.client: has its own key and address: give no api_key and no base_url beside it"


@every_provider
@pytest.mark.parametrize("key", ["sk\n", "sk ant", "sk-é"])
def test_a_key_that_no_header_can_carry_is_refused_unshown(name: str, key: str) -> None:
    told = refused(name, api_key=key)
    assert told == f"{name}.api_key: has a blank, a line break or another character that no header can carry"


@every_provider
def test_a_missing_key_names_the_variables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(MissingKey) as caught:
        PROVIDERS[name]("some-model")
    assert (caught.value.provider, set(caught.value.variables) <= set(VARIABLES)) == (name, True)
