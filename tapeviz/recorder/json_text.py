"""Write and read JSON by objects of our own, whatever a snippet makes of the module ``json``."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecoder, JSONEncoder
from typing import Any

to_json: Callable[[Any], str] = JSONEncoder().encode
to_compact_json: Callable[[Any], str] = JSONEncoder(separators=(",", ":")).encode
from_json: Callable[[str], Any] = JSONDecoder().decode
