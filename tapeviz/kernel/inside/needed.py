"""Keep the modules and builtins that the kernel needs, whatever a snippet does to them.

``sys.modules.clear()`` and ``builtins.len = None`` do little harm to a plain Python process, but a
kernel has threads that go on importing and calling.
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

    It is also a finder for ``sys.meta_path``: threads that ran when it was made, except the one
    that made it, import the modules of the snapshot."""

    def __init__(self) -> None:
        self._modules = dict(sys.modules)
        self._names = dict(vars(builtins))
        self.threads = set(sys._current_frames()) - {threading.get_ident()}

    def is_there(self) -> bool:
        """Whether all builtins that could be called then can still be called."""
        now = vars(builtins)
        return all(
            now.get(name) is value or not callable(value) or callable(now.get(name))
            for name, value in self._names.items()
        )

    def restore(self) -> None:
        """Restore what is missing or replaced; new modules and ``__main__`` stay as they are."""
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
    """Loads a module that exists already."""

    def __init__(self, module: ModuleType, spec: Any) -> None:
        self._module = module
        self._spec = spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import replaced it


@contextlib.contextmanager
def what_the_kernel_needs() -> Iterator[Needed]:
    """In the ``with`` the kernel's threads find their modules; at its end everything is
    restored."""
    needed = Needed()
    finder: Any = needed
    sys.meta_path.insert(0, finder)
    try:
        yield needed
    finally:
        needed.restore()
        with contextlib.suppress(ValueError):
            sys.meta_path.remove(finder)
