"""Write and read JSON by objects of our own, whatever a snippet makes of the module ``json``."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecoder, JSONEncoder
from typing import Any

to_json: Callable[[Any], str] = JSONEncoder().encode
to_compact_json: Callable[[Any], str] = JSONEncoder(separators=(",", ":")).encode
_decode: Callable[[str], tuple[Any, int]] = JSONDecoder().raw_decode


def from_json(text: str) -> Any:
    """Read JSON that we wrote: without a look for space around it, a third of the time."""
    return _decode(text)[0]
