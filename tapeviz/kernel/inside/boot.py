"""Make packages from source text in a request, to be imported under private names.

Executed in a kernel by itself, since nothing of ours can be imported there before.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any


class TextImporter(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
    """Imports modules from their text, without ``sys.path`` and the disk.

    They have their own copy of the builtins, which a snippet's ``builtins.len = None`` leaves
    alone."""

    def __init__(
        self, texts: Mapping[str, str], places: Mapping[str, str], packages: Sequence[str]
    ) -> None:
        self._texts = texts
        self._places = places
        self._builtins = dict(vars(builtins))
        self._packages = frozenset(packages)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self._texts:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name in self._packages)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self._builtins
        super().exec_module(module)

    def get_filename(self, fullname: str) -> str:
        return self._places[fullname]

    def get_source(self, fullname: str) -> str:
        return self._texts[fullname]

    def is_package(self, fullname: str) -> bool:
        return fullname in self._packages

    @staticmethod
    def source_to_code(data: Any, path: Any = "<string>") -> CodeType:
        """The code that the fork server compiled once for all its kernels, if it has it."""
        compiled = getattr(sys.modules.get("_tapeviz_fork_server"), "compiled", {})
        known: CodeType | None = compiled.get((path, data))
        return known or importlib.abc.InspectLoader.source_to_code(data, path)


def boot(kernel: Any) -> None:
    """Load the packages in the request that ``kernel`` is answering, and open the wire."""
    payload = json.loads(bytes(kernel.get_parent()["buffers"][0]))
    sys.meta_path.insert(0, TextImporter(payload["texts"], payload["places"], payload["packages"]))
    wire = importlib.import_module("_tapeviz_inside.wire")
    wire.open_wire(kernel, payload)
