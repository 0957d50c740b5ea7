"""The snippet's text in; it runs as ``__main__``, and how it ended comes out."""

from __future__ import annotations

import ast
import importlib
import linecache
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable, Sequence
from types import CodeType, TracebackType
from typing import Any

from .installed import Installed, clean
from .instrument import instrument

_MODULES = {"tf": ("tensorflow",), "np": ("numpy",), "keras": ("keras", "tensorflow.keras")}
Event = dict[str, Any]


def run_as_main(
    source: str, filename: str, argv: Sequence[str], provide: Sequence[str], compiled: CodeType
) -> None:
    """Execute the compiled snippet as a script of its own."""
    module = types.ModuleType("__main__")
    space = module.__dict__
    space.update(__file__=filename, __builtins__=sys.modules["builtins"], __annotations__={})
    space.pop("__annotations__")
    for name in provide:
        provided = _provided(name)
        if provided is not None:
            space[name] = provided
    sys.modules["__main__"] = module
    sys.argv = list(argv)
    exec(compiled, space)


def remember_text(source: str, filename: str, installed: Installed) -> None:
    """Let tracebacks, ``inspect`` and AutoGraph find the snippet's text, which need not be a file.

    AutoGraph makes ``linecache`` read the file anew (``_fix_linecache_record`` in inspect_utils,
    TensorFlow 2.15-2.21): what it shall find is this text all the same.
    """
    lines = source.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    linecache.cache[filename] = (len(source), None, lines, filename)

    def wrap(update: Callable[..., list[str]]) -> Callable[..., list[str]]:
        def updatecache(name: str, module_globals: Any = None) -> list[str]:
            return lines if name == filename else update(name, module_globals)

        return updatecache

    installed.replace(linecache, "updatecache", wrap)


def compile_snippet(
    source: str,
    filename: str,
    note: Callable[[str], None],
    first: ast.NodeTransformer | None = None,
) -> CodeType:
    """Bytecode that reports its bindings; plain bytecode where that cannot be made.

    ``first``: changes the tree before. ``SyntaxError`` is the snippet's own.
    """
    plain: CodeType = compile(source, filename, "exec", dont_inherit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were given for the plain text already
            tree = ast.parse(source, filename)
            tree = instrument(tree if first is None else first.visit(tree))
            code: CodeType = compile(tree, filename, "exec", dont_inherit=True)
            return code
    except Exception as error:
        note(f"names are not recorded: {type(error).__name__}: {error}")
        return plain


def watch(run: Callable[[], None], filename: str) -> list[Event]:
    """Run, and tell by events how it ended: ``error`` if it raised, and ``end``."""
    started = time.perf_counter()
    events: list[Event] = []
    how, detail = "finished", ""
    try:
        run()
    except SystemExit as leaving:
        how, detail = "exit", _exit_words(leaving)
    except KeyboardInterrupt as interrupt:
        how = "interrupted"
        lines = _snippet_lines(interrupt.__traceback__, filename)
        detail = f"line {lines[-1]}" if lines else ""
    except BaseException as error:
        how = "raised"
        events.append(raised(error, filename))
    events.append(
        {"e": "end", "how": how, "seconds": time.perf_counter() - started, "detail": detail}
    )
    return events


def raised(error: BaseException, filename: str) -> Event:
    """The ``error`` event of an exception that nobody caught."""
    lines = _snippet_lines(error.__traceback__, filename)
    line = lines[-1] if lines else 0
    if isinstance(error, SyntaxError) and error.filename == filename:
        line = error.lineno or line
    clean(error)
    try:
        words = str(error)
    except Exception:
        words = "<exception str() failed>"
    return {
        "e": "error",
        "type": type(error).__name__,
        "message": words,
        "line": line,
        "traceback": "".join(traceback.format_exception(error)),
        "frames": lines,
    }


def _snippet_lines(trace: TracebackType | None, filename: str) -> list[int]:
    lines = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines


def _exit_words(leaving: SystemExit) -> str:
    """What Python does with ``sys.exit("words")``: they go to standard error."""
    code = leaving.code
    if code is None or isinstance(code, int):
        return str(int(code or 0))
    print(code, file=sys.stderr)
    return str(code)


def _provided(name: str) -> Any:
    for module in _MODULES.get(name, ()):
        try:
            return importlib.import_module(module)
        except ImportError:
            continue
    return None
