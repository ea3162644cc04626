"""
A short notation for the fields of a JSON object.
"""


def shape(spec: str) -> dict[str, str]:
    """
    The fields and what they hold; a "?" marks an optional one.

    >>> shape("type id:id name?:string")
    {'type': 'any', 'id': 'id', 'name?': 'string'}
    """
    words = (word.partition(":") for word in spec.split())
    return {name: holds or "any" for name, _, holds in words}
