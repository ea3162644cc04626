"""
The messages of the Gemini API: which fields they know, under either of their two spellings.

The API reads protocol buffers from JSON: a field may be camelCase or snake_case, null means absent, an unknown name
is an error.
"""

import base64
import re
from collections.abc import Mapping
from typing import TypeAlias

from rodada.providers.loopback.json_values import Json, Object, canonical, kind_of, text
from rodada.providers.loopback.script import Failure

# What a field holds: a message by its name, a list or a map of them ("[Part]", "{Schema}"), a scalar ("string",
# "struct", "bytes", "boolean"), or "*" for a value that is not looked into.
_Fields: TypeAlias = Mapping[str, str]


def _opaque(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "*")


_MESSAGES: Mapping[str, _Fields] = {
    "Request": {
        "contents": "[Content]",
        "systemInstruction": "Content",
        "tools": "[Tool]",
        "toolConfig": "ToolConfig",
        "generationConfig": "GenerationConfig",
        **_opaque("model safetySettings labels serviceTier store continuationToken cachedContent"),
    },
    "Content": {"parts": "[Part]", "role": "string"},
    "Part": {
        "functionCall": "FunctionCall",
        "functionResponse": "FunctionResponse",
        "text": "string",
        "thought": "boolean",
        "thoughtSignature": "bytes",
        "inlineData": "Blob",
        "fileData": "FileData",
        **_opaque(
            "executableCode codeExecutionResult toolCall toolResponse mediaResolution "
            "videoMetadata partMetadata audioTranscription mediaProcessing speechMetadata documentMetadata "
            "spreadsheetMetadata audioMetadata aPartOfTomorrow "
        ),
    },
    "FunctionCall": {
        **{"id": "string", "name": "string", "args": "struct"},
        **_opaque("partialArgs willContinue"),
    },
    "FunctionResponse": {
        **{"id": "string", "name": "string", "response": "struct", "parts": "[FunctionResponsePart]"},
        **_opaque("scheduling willContinue"),
    },
    "FunctionResponsePart": {"inlineData": "Blob", "fileData": "FileData"},
    "FileData": {"mimeType": "string", "fileUri": "string", **_opaque("displayName")},
    "Blob": {"mimeType": "string", "data": "bytes", **_opaque("displayName")},
    "Tool": {
        "functionDeclarations": "[FunctionDeclaration]",
        **_opaque(
            "retrieval computerUse fileSearch googleSearch googleMaps codeExecution enterpriseWebSearch "
            "googleSearchRetrieval parallelAiSearch urlContext mcpServers exaAiSearch "
        ),
    },
    "FunctionDeclaration": {
        "parameters": "Schema",
        "response": "Schema",
        "name": "string",
        "description": "string",
        **_opaque("parametersJsonSchema responseJsonSchema behavior"),
    },
    "Schema": {
        "items": "Schema",
        "anyOf": "[Schema]",
        "properties": "{Schema}",
        **_opaque(
            "type format title description nullable enum default example minimum maximum minLength maxLength "
            "pattern minItems maxItems minProperties maxProperties propertyOrdering required "
        ),
    },
    "ToolConfig": {
        "functionCallingConfig": "FunctionCallingConfig",
        **_opaque("retrievalConfig includeServerSideToolInvocations"),
    },
    "FunctionCallingConfig": _opaque("mode allowedFunctionNames streamFunctionCallArguments"),
    "GenerationConfig": {
        "thinkingConfig": "ThinkingConfig",
        **_opaque(
            "candidateCount stopSequences maxOutputTokens temperature topP topK seed presencePenalty "
            "frequencyPenalty responseMimeType responseSchema responseJsonSchema responseModalities "
            "responseLogprobs logprobs responseFormat speechConfig mediaResolution enableEnhancedCivicAnswers "
            "translationConfig audioTranscriptionConfig audioTimestamp modelSelectionConfig routingConfig "
            "enableAffectiveDialog "
        ),
    },
    "ThinkingConfig": _opaque("includeThoughts thinkingBudget thinkingLevel"),
}

_SCALARS: Mapping[str, tuple[type, str]] = {
    "string": (str, "TYPE_STRING"),
    "boolean": (bool, "TYPE_BOOL"),
    "bytes": (str, "TYPE_BYTES"),
    "struct": (dict, "type.googleapis.com/google.protobuf.Struct"),
}


class UnreadableField(ValueError):
    """
    A request that the vendor's JSON reader refuses.
    """

    def __init__(self, refusal: Failure) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def normal(body: Object) -> Object:
    """
    The request with every known field in camelCase and without nulls.

    Raises:
        UnreadableField: an unknown name, or a value of the wrong type.
    """
    return _message("Request", body, "")


def _message(name: str, value: Json, path: str) -> Object:
    if not isinstance(value, dict):
        raise UnreadableField(_invalid(f"Invalid value at '{path}': expected an object, got {kind_of(value)}", path))
    fields = _MESSAGES[name]
    made: Object = {}
    for key, inner in value.items():
        known = _camel(key)
        if known not in fields:
            raise UnreadableField(_unknown(key, path))
        if inner is not None:
            made[known] = _value(fields[known], inner, _join(path, _snake(known)))
    return made


def _value(kind: str, value: Json, path: str) -> Json:
    match kind[0]:
        case "*":
            return value
        case "[":
            return [_message(kind[1:-1], each, f"{path}[{at}]") for at, each in enumerate(_list(value, path))]
        case "{":
            pairs = value.items() if isinstance(value, dict) else ()
            return {key: _message(kind[1:-1], each, f"{path}[{key}]") for key, each in pairs}
        case _ if kind in _SCALARS:
            return _scalar(kind, value, path)
        case _:
            return _message(kind, value, path)


def _scalar(kind: str, value: Json, path: str) -> Json:
    known, name = _SCALARS[kind]
    if not isinstance(value, known):
        raise UnreadableField(_invalid(f"Invalid value at '{path}' ({name}), {canonical(value)}", path))
    if kind == "bytes" and signature_bytes(value) is None:
        fault = f"Invalid value at '{path}' ({name}), Base64 decoding failed for {canonical(value)}"
        raise UnreadableField(_invalid(fault, path))
    return value


def signature_bytes(value: Json) -> bytes | None:
    """
    Base64 in either of its alphabets, with or without padding; None for what is neither.
    """
    try:
        return base64.b64decode(text(value).replace("-", "+").replace("_", "/") + "==", validate=False)
    except ValueError:
        return None


def _list(value: Json, path: str) -> list[Json]:
    if isinstance(value, list):
        return value
    raise UnreadableField(_invalid(f"Invalid value at '{path}': expected an array, got {kind_of(value)}", path))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _camel(key: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), key)


def _snake(key: str) -> str:
    return re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), key)


def _unknown(key: str, path: str) -> Failure:
    at = f" at '{path}'" if path else ""
    return _invalid(f'Invalid JSON payload received. Unknown name "{key}"{at}: Cannot find field.', path)


def _invalid(message: str, path: str) -> Failure:
    violation = {"field": path, "description": message}
    details = ({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]},)
    return Failure(400, message, details=details)
