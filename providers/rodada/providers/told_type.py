"""
A type of answers told in words, for models that cannot be asked for it in the vendor's own way.
"""

from attrs import evolve

from rodada.statemachine.request import ModelRequest

TOLD = (
    "When you answer the person, answer with one JSON object and nothing else: no words and no code fence around it. "
    "It fulfils this JSON Schema: "
)


def in_words(request: ModelRequest) -> ModelRequest:
    """
    The request with the type of the answer in its instructions; the request itself where none is asked for.
    """
    if request.output_schema is None:
        return request
    told = TOLD + request.output_schema
    instructions = "\n\n".join(text for text in (request.instructions, told) if text.strip())
    return evolve(request, instructions=instructions, output_schema=None)
