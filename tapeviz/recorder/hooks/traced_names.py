"""Record what the code that AutoGraph made of the snippet's functions binds and catches.

AutoGraph reads a function's text and makes its own code of it, in which the snippet's bindings are
not reported (see ``instrument``). Its names are the same, though: they are looked up in the frame
when an op is put into the graph, and once more when the function returns. Exceptions that it
catches are reported by its ``except`` clauses, which get a call of the hook when Python compiles
them: the text that AutoGraph wrote stays as it is.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source, spec_from_file_location
from os import symlink
from os.path import basename, join
from sys import _getframe
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from .. import private
from ..installed import Installed
from .instrument import instrument_handlers

if TYPE_CHECKING:
    from ..recording import RecordingContext

_FRAMES_TO_SNIPPET = 40
_OF_AUTOGRAPH = re.compile(r"(?:retval_|do_return|[fl]scope|itr|break_|continue_)(?:_\d+)?")
"""Names that AutoGraph itself binds; it gives them a number where they are taken, as in a loop in a
loop (``Namer.new_symbol`` in autograph/pyct/naming.py, 2.15 to 2.21)."""
_WORDS_LIKE_THESE = re.compile(rf"\b{_OF_AUTOGRAPH.pattern}\b")


def install(recording: RecordingContext, installed: Installed) -> None:
    installed.replace(private.FunctionScope, "ret", lambda ret: _returning(recording, ret))
    installed.replace(private.autograph_loader, "importlib", _with_reports)


def note_generated_code(folder: str, installed: Installed) -> None:
    """Put links into ``folder`` to each file that AutoGraph writes its code to, and its bytecode.

    The code has the snippet's text in it. AutoGraph removes its files at exit, which a process
    that is killed never reaches (``load_source`` in autograph/pyct/loader.py, 2.15 to 2.21:
    ``tempfile.NamedTemporaryFile(delete=False)``), and never what Python keeps of them in
    ``__pycache__``; the links show which are left. The files stay
    where they are in a plain run: tracebacks name them.
    """

    def with_links(module: Any) -> Any:
        return _LinkedFiles(folder, module.NamedTemporaryFile)

    if folder:
        installed.replace(private.autograph_loader, private.GENERATED_FILES, with_links)


class _LinkedFiles:
    """The part of the module ``tempfile`` that ``load_source`` uses."""

    __slots__ = ("_folder", "_make")

    def __init__(self, folder: str, make: Callable[..., Any]) -> None:
        self._folder = folder
        self._make = make

    def NamedTemporaryFile(self, *args: Any, **named: Any) -> Any:
        file = self._make(*args, **named)
        self._link(file.name)
        with suppress(NotImplementedError):  # some Pythons keep no bytecode
            self._link(cache_from_source(file.name))
        return file

    def _link(self, written: str) -> None:
        with suppress(OSError):
            symlink(written, join(self._folder, basename(written)))


class _Loader(SourceFileLoader):
    """Compiles a file that AutoGraph wrote with reports of the exceptions that it catches."""

    def get_code(self, fullname: str) -> CodeType | None:
        with suppress(Exception):
            path = self.get_filename(fullname)
            tree = instrument_handlers(ast.parse(self.get_data(path), path))
            return compile(tree, path, "exec", dont_inherit=True)
        return super().get_code(fullname)


def _with_reports(_: Any) -> Any:
    return _Importlib()


class _Util:
    """``importlib.util``, with our loader for a file."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.util, name)

    def spec_from_file_location(self, name: str, path: str, **others: Any) -> Any:
        others.setdefault("loader", _Loader(name, path))
        return spec_from_file_location(name, path, **others)


class _Importlib:
    """``importlib`` for ``load_source`` in autograph/pyct/loader.py, which uses ``util`` of it
    (TensorFlow 2.15-2.21)."""

    __slots__ = ()  # what is in the module, its util among it, is not copied into it
    util = _Util()

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib, name)


class TracedNames:
    """The names of a graph's tensors that were emitted already."""

    def __init__(self, source: str) -> None:
        self.made_at: dict[int, int] = {}
        """Where each tensor of a graph was made: the number of the place."""
        self._emitted: dict[str, int] = {}
        self._words = frozenset(_WORDS_LIKE_THESE.findall(source))
        self._own: dict[str, bool] = {}

    def look_around(self, recording: RecordingContext, frame: FrameType | None) -> None:
        """Emit the names bound in the innermost generated function around ``frame``."""
        lines = private.autograph_lines()
        for _ in range(_FRAMES_TO_SNIPPET if lines else 0):
            if frame is None:
                return
            origin = lines.get((frame.f_code.co_filename, frame.f_lineno))
            if origin is not None and origin[0] == recording.filename:
                self.look(recording, frame)
                return
            frame = frame.f_back

    def look(self, recording: RecordingContext, frame: FrameType) -> None:
        """Emit the names that this frame bound to tensors since it was looked at."""
        for name, value in list(private.locals_of(frame).items()):
            if not private.is_instance(value, private.Tensor) or not self._is_own(name):
                continue
            identity = recording.id(value)
            if identity >= 0 or self._emitted.get(name) == identity:
                continue
            self._emitted[name] = identity
            site = self.made_at.get(identity, 0)
            fields = {"e": "bind", "name": name, "site": site, "tensors": [[identity, []]]}
            recording.emit(fields, [value])

    def _is_own(self, name: str) -> bool:
        """Whether the snippet may have bound that name, and not AutoGraph alone."""
        if name not in self._own:
            self._own[name] = not _OF_AUTOGRAPH.fullmatch(name) or name in self._words
        return self._own[name]


def _returning(recording: RecordingContext, ret: Callable[..., Any]) -> Callable[..., Any]:
    """``FunctionScope.ret``: the last that generated code calls before it returns."""

    @recording.guarded
    def leaving(frame: FrameType) -> None:
        recording.traced_names.look(recording, frame)

    def returning(self: Any, value: Any, did_return: Any) -> Any:
        if not recording.local.hidden and not recording.local.state[0]:
            frame = _getframe(1)
            if frame.f_code.co_filename in {file for file, _ in private.autograph_lines()}:
                leaving(frame)
        return ret(self, value, did_return)

    return returning
