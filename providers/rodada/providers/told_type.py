"""
A type of answers told in words, for models that cannot be asked for it in the vendor's own way.
"""

from attrs import evolve

from rodada.statemachine.request import ModelRequest

TOLD = (
    "When you answer the person, answer with one JSON object and nothing else: no words and no code fence around it. "
    "It fulfils this JSON Schema: "
)


def in_words(request: ModelRequest, *, also_lifted: bool = False) -> ModelRequest:
    """
    The request with the type of the answer in its instructions; the request itself where none is asked for.

    Args:
        request: any.
        also_lifted: whether the instructions of the closing call must be those of the calls before. What holds in it
            stands in its guidance.
    """
    schema = request.output_schema or (request.lifted_schema if also_lifted else None)
    if schema is None:
        return request
    told = TOLD + schema
    instructions = "\n\n".join(text for text in (request.instructions, told) if text.strip())
    return evolve(request, instructions=instructions, output_schema=None)
