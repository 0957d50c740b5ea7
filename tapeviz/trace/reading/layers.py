"""A table over another one: what is put into it is its own, and the other stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Overlaid(dict[Key, Value]):
    """Iterates over its own entries; finds those ``below``, too, but not the keys ``without``."""

    def __init__(self, below: Mapping[Key, Value], without: Collection[Key] = ()) -> None:
        super().__init__()
        self._below, self._without = below, frozenset(without)

    def __missing__(self, key: Key) -> Value:
        if key in self._without:
            raise KeyError(key)
        return self._below[key]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or (key in self._below and key not in self._without)

    def get(self, key: Key, default: Any = None) -> Any:
        """The entry of this table or of the one below."""
        try:
            return self[key]
        except KeyError:
            return default

    def setdefault(self, key: Key, default: Any = None) -> Any:
        """The entry of this table or of the one below; a new one where there is none."""
        if key not in self:
            self[key] = default
        return self[key]
