"""Look a private name of TensorFlow up; a stand-in takes the place of one that is missing.

TensorFlow moves its private names between versions. One that is missing costs the feature that
needs it, and never the run: :data:`MISSING` has its name, and the recording a note about it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NoReturn

MISSING: dict[str, str] = {}
"""The names that this TensorFlow lacks (``module:name`` or ``module``), with what is lost."""


class Absent:
    """Stands for a missing name: nothing is an instance of it, and each use of it raises."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        raise AttributeError(f"this TensorFlow lacks {self._name}")

    def __call__(self, *args: Any, **named: Any) -> NoReturn:
        raise AttributeError(f"this TensorFlow lacks {self._name}")

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __bool__(self) -> bool:
        return False


def find(name: str, loses: str, otherwise: Any = None, *, before: str = "") -> Any:
    """The module ``a.b``, or the attribute ``a.b:c``; ``otherwise`` or :class:`Absent` without it.

    ``loses``: what is not recorded where the name is missing, in the words of a note. A class that
    ``except`` or ``class`` names needs a class in its place: give ``otherwise``.
    ``before``: the place of it in older versions, where it has moved.
    """
    for home in (name, before) if before else (name,):
        module, _, attribute = home.partition(":")
        try:
            found = import_module(module)
            return getattr(found, attribute) if attribute else found
        except (ImportError, AttributeError):
            continue
    known = MISSING.get(name)  # two features may need the same name
    MISSING[name] = f"{known}, {loses}" if known else loses
    return Absent(name) if otherwise is None else otherwise
