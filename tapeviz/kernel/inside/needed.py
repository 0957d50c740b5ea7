"""Modules and builtins as the kernel needs them in; the same again out, whatever a snippet did.

``sys.modules.clear()`` and ``builtins.len = None`` harm a plain Python process little, but a kernel
has threads that go on importing and calling.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any


class Needed:
    """A snapshot of modules and builtins.

    A finder for ``sys.meta_path``, too: the threads that run already when it is made, other than
    the one that makes it, import the modules of that time.
    """

    def __init__(self) -> None:
        self._modules = dict(sys.modules)
        self._names = dict(vars(builtins))
        self.threads = set(sys._current_frames()) - {threading.get_ident()}

    def is_there(self) -> bool:
        """Whether every builtin can still be called that could be called then."""
        now = vars(builtins)
        return all(
            now.get(name) is value or not callable(value) or callable(now.get(name))
            for name, value in self._names.items()
        )

    def restore(self) -> None:
        """Give back what is missing or another one now; modules that are new stay, and so does the
        snippet's own."""
        now = vars(builtins)
        for name, value in self._names.items():
            if now.get(name) is not value:
                now[name] = value
        for name, module in self._modules.items():
            if name != "__main__" and sys.modules.get(name) is not module:
                sys.modules[name] = module

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if threading.get_ident() not in self.threads or name not in self._modules:
            return None
        module = self._modules[name]
        return importlib.machinery.ModuleSpec(
            name, _Loader(module, getattr(module, "__spec__", None))
        )


class _Loader(importlib.abc.Loader):
    """Loads a module that is there already."""

    def __init__(self, module: ModuleType, spec: Any) -> None:
        self._module = module
        self._spec = spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import has put its own there


@contextlib.contextmanager
def what_the_kernel_needs() -> Iterator[Needed]:
    """Inside, the kernel's threads find their modules; afterwards all is there again."""
    needed = Needed()
    finder: Any = needed
    sys.meta_path.insert(0, finder)
    try:
        yield needed
    finally:
        needed.restore()
        with contextlib.suppress(ValueError):
            sys.meta_path.remove(finder)
