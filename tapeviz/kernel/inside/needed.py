"""Keep the modules and names that the kernel needs, whatever a snippet does to them.

``sys.modules.clear()``, ``builtins.len = None`` and ``json.dumps = None`` do little harm to a plain
Python process, but a kernel has threads that go on importing and calling, and reports the end.
"""

from __future__ import annotations

import builtins
import importlib.abc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from sys import _current_frames
from threading import get_ident
from types import ModuleType
from typing import Any

KERNEL_PACKAGES = (
    *("IPython", "comm", "ipykernel", "jedi", "jupyter_client", "jupyter_core"),
    *("matplotlib_inline", "parso", "prompt_toolkit", "stack_data", "tornado", "traitlets", "zmq"),
)


_NOT_KEPT = {"__main__", "builtins", "sys"}
"""Modules whose names are not looked at: a script may have no ``sys.stdout``."""


class Needed:
    """A snapshot of modules, of builtins, and of the names in the modules of Python and the kernel.

    It is also a finder for ``sys.meta_path``: threads that ran when it was made, except the one
    that made it, import the modules of the snapshot."""

    def __init__(self) -> None:
        self._modules = dict(sys.modules)
        self._names = dict(vars(builtins))
        needed = {*sys.stdlib_module_names, *KERNEL_PACKAGES} - _NOT_KEPT
        self._spaces = [
            (vars(module), dict(vars(module)))
            for name, module in self._modules.items()
            if name.partition(".")[0] in needed and isinstance(module, ModuleType)
        ]
        self.threads = set(_current_frames()) - {get_ident()}

    def is_there(self) -> bool:
        """Whether all builtins that could be called then can still be called."""
        now = vars(builtins)
        return all(
            now.get(name) is value or not callable(value) or callable(now.get(name))
            for name, value in self._names.items()
        )

    def restore(self) -> None:
        """Restore modules and builtins that are missing or replaced, and in the modules of Python
        and the kernel the names that nothing can work with; new modules and ``__main__`` stay as
        they are."""
        now = vars(builtins)
        for name, value in self._names.items():
            if now.get(name) is not value:
                now[name] = value
        for name, module in self._modules.items():
            if name != "__main__" and sys.modules.get(name) is not module:
                sys.modules[name] = module
        for space, before in self._spaces:
            for name, value in before.items():
                if space.get(name) is not value and _is_broken(space.get(name), value):
                    space[name] = value

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if get_ident() not in self.threads or name not in self._modules:
            return None
        module = self._modules[name]
        return ModuleSpec(name, _Loader(module, getattr(module, "__spec__", None)))


def _is_broken(now: object, before: object) -> bool:
    """Whether a name was removed, or holds None or something that cannot be called instead of a
    function or class. Another function may be there on purpose."""
    return now is None or (callable(before) and not callable(now))


class _Loader(importlib.abc.Loader):
    """Loads a module that exists already."""

    def __init__(self, module: ModuleType, spec: Any) -> None:
        self._module = module
        self._spec = spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import replaced it


@contextmanager
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
        with suppress(ValueError):
            sys.meta_path.remove(finder)
