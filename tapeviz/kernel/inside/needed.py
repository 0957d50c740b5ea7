"""Keep the modules and names that the kernel needs, whatever a snippet does to them, and hide those
that a script does not have.

``sys.modules.clear()``, ``builtins.len = None`` and ``json.dumps = None`` do little harm to a plain
Python process, but a kernel has threads that go on importing and calling, and reports the end.
"""

from __future__ import annotations

import builtins
import importlib.abc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from os import getpid as _getpid
from sys import _current_frames
from threading import get_ident
from types import ModuleType
from typing import Any

KERNEL_PACKAGES = (
    *("IPython", "comm", "ipykernel", "jedi", "jupyter_client", "jupyter_core"),
    *("matplotlib_inline", "parso", "prompt_toolkit", "stack_data", "tornado", "traitlets", "zmq"),
)
_OURS = ("_tapeviz_fork_server", "_tapeviz_inside", "_tapeviz_recorder")
_NEVER_A_SCRIPTS = ("comm", "ipykernel", "jupyter_client", "jupyter_core", "tornado", *_OURS)
"""Packages that neither TensorFlow nor Keras imports; Keras imports IPython where it is installed
(``keras.src.saving.file_editor``, Keras 3)."""
_NEVER_HIDDEN = "zmq"
"""The kernel's threads import it over and over (``zmq/sugar/attrsettr.py``)."""

_NOT_KEPT = {"__main__", "builtins", "sys"}
"""Modules whose names are not looked at: a script may have no ``sys.stdout``."""


class Needed:
    """A snapshot of modules, of builtins, and of the names in the modules of Python and the kernel.

    It is also a finder for ``sys.meta_path``: threads that ran when it was made, except the one
    that made it, import the modules of the snapshot, and all threads the hidden ones of them."""

    def __init__(self) -> None:
        self._modules = dict(sys.modules)
        self._hidden = _no_modules_of_a_script(self._modules)
        self._names = dict(vars(builtins))
        needed = {*sys.stdlib_module_names, *KERNEL_PACKAGES} - _NOT_KEPT
        self._spaces = [
            (vars(module), dict(vars(module)))
            for name, module in self._modules.items()
            if name.partition(".")[0] in needed and isinstance(module, ModuleType)
        ]
        self.threads = set(_current_frames()) - {get_ident()}

    def hide(self) -> None:
        """Take modules that a script does not have out of ``sys.modules``, until they are imported
        or restored."""
        for name in self._hidden:
            sys.modules.pop(name, None)

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
        os.getpid = _getpid  # by which zmq and the kernel know whether they were forked
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
        if name not in self._modules:
            return None
        if name not in self._hidden and get_ident() not in self.threads:
            return None
        module = self._modules[name]
        return ModuleSpec(name, _Loader(module, getattr(module, "__spec__", None)))


def _is_broken(now: object, before: object) -> bool:
    """Whether a name was removed, or holds None or something that cannot be called instead of a
    function or class. Another function may be there on purpose."""
    return now is None or (callable(before) and not callable(now))


def _no_modules_of_a_script(modules: Mapping[str, ModuleType]) -> frozenset[str]:
    """The names of the kernel's and our own modules that ``import tensorflow`` does not import."""
    fork_server: Any = modules.get("_tapeviz_fork_server")
    if fork_server is None:  # this process imported the kernel first
        return frozenset(name for name in modules if name.partition(".")[0] in _NEVER_A_SCRIPTS)
    ours = {*KERNEL_PACKAGES, *_OURS} - {_NEVER_HIDDEN}
    known: frozenset[str] = fork_server.script_modules
    return frozenset(n for n in modules if n not in known and n.partition(".")[0] in ours)


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
    """Let the kernel's threads find their modules, and take out of ``sys.modules`` those that a
    script does not have, for the time of the ``with``."""
    needed = Needed()
    finder: Any = needed
    sys.meta_path.insert(0, finder)
    needed.hide()
    try:
        yield needed
    finally:
        needed.restore()
        with suppress(ValueError):
            sys.meta_path.remove(finder)
