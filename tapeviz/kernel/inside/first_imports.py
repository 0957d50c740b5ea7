"""Hide modules that the process imported before a snippet, until the snippet imports them itself.

TensorFlow is imported before the kernel is forked. The snippet finds neither it in ``sys.modules``
nor the warning filters of NumPy and TensorFlow, as in a fresh process, until it imports them.
Modules inside of packages stay where they are.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from warnings import catch_warnings

from .needed import spec_of

_OURS = "_tapeviz_"


@contextmanager
def first_imports() -> Iterator[None]:
    """In the ``with`` the imports that the fork server made are to be made once more.

    A kernel that was launched, without a fork server, is left as it is.
    """
    fork_server: Any = sys.modules.get("_tapeviz_fork_server")
    if fork_server is None:
        yield
        return
    finder: Any = _FirstImports(fork_server.imported)
    warnings.filters[:] = fork_server.filters  # type: ignore[index]
    _tell_warnings()
    sys.meta_path.insert(1, finder)  # the kernel's threads find their modules before
    try:
        yield
    finally:
        finder.reveal_all()
        with suppress(ValueError):
            sys.meta_path.remove(finder)


class _FirstImports:
    """A finder of modules that were imported before.

    ``imported``: for each import its name (empty for those of the kernel), the names of all modules
    that came with it, and the warning filters that it put before and behind the others.
    """

    def __init__(self, imported: Sequence[dict[str, Any]]) -> None:
        self._waiting = list(imported)
        names = {name for each in imported for name in each["modules"]}
        names |= {name for name in sys.modules if name.startswith(_OURS)}
        self._hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The module that was imported before. Its import brings all that came with it, or the
        module alone if it is one of those that came with another."""
        module = self._hidden.get(name)
        return None if module is None else spec_of(name, module, lambda: self._imported(name))

    def _imported(self, name: str) -> None:
        self._hidden.pop(name, None)
        while any(each["name"] == name for each in self._waiting):
            self._reveal(self._waiting.pop(0))

    def _reveal(self, imported: dict[str, Any]) -> None:
        for name in imported["modules"]:
            self._put_back(name)
        filters: Any = warnings.filters
        for each in reversed(imported["before"]):
            with suppress(ValueError):
                filters.remove(each)
            filters.insert(0, each)
        filters.extend(each for each in imported["behind"] if each not in filters)
        _tell_warnings()

    def _put_back(self, name: str) -> None:
        module: ModuleType | None = self._hidden.pop(name, None)
        if module is not None:
            sys.modules.setdefault(name, module)

    def reveal_all(self) -> None:
        for name in list(self._hidden):
            self._put_back(name)


def _tell_warnings() -> None:
    """Let the C part of ``warnings`` look at the filters anew, as the end of this block does."""
    with catch_warnings():
        pass
