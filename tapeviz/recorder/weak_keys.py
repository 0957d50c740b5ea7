"""A dictionary that does not keep its keys alive, and works whatever the snippet does to weakref.

Python's own looks ``ref`` up in its module at each use, where a snippet may have replaced it.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar
from weakref import ref

Value = TypeVar("Value")


class WeakKeys(Generic[Value]):
    """Values by objects, which are let go of with them."""

    def __init__(self) -> None:
        values: dict[Any, Value] = {}

        def forget(key: Any) -> None:
            values.pop(key, None)

        self._values, self._forget = values, forget

    def get(self, key: Any) -> Value | None:
        return self._values.get(ref(key))

    def __setitem__(self, key: Any, value: Value) -> None:
        self._values[ref(key, self._forget)] = value
