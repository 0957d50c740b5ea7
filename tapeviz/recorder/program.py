"""Run the snippet's text as ``__main__``, and say how it ended."""

from __future__ import annotations
import __future__

import ast
import atexit
import bisect
import builtins
import contextlib
import getpass
import importlib
import importlib.machinery
import io
import linecache
import os
import re
import signal
import sys
import tokenize
import traceback
import types
import warnings
from collections.abc import Callable, Sequence
from operator import is_not
from time import perf_counter
from types import CodeType, TracebackType
from typing import Any, NoReturn

from . import limits, private, stack_depth
from .held.frames import held_by_names
from .hooks.instrument import instrument
from .installed import Installed, clean, is_ours

_MODULES = {"tf": ("tensorflow",), "np": ("numpy",), "keras": ("keras", "tensorflow.keras")}
_FIELDS_OF_BYTECODE = frozenset(
    f"co_{name}" for name in ("code", "consts", "names", "stacksize", "lines", "positions")
)
_OF_BYTECODE = re.compile(rf"\b(?:dis|{'|'.join(_FIELDS_OF_BYTECODE)})\b")
EventFields = dict[str, Any]

_SHORT_FRAMES = 25
"""Frames between the snippet and the functions of a kernel, which are long.

TensorFlow notes the lines of the 30 innermost frames for each eager op (``StackTrace::Capture`` in
``python/util/stack_trace.h``, 2.15-2.21), and Python 3.11-3.13 looks for a line from the beginning
of a function's table: for a kernel's frames that takes as long as a small op, for these a tenth.
"""


def run_as_main(
    filename: str,
    argv: Sequence[str],
    provide: Sequence[str],
    compiled: Sequence[CodeType],
    report_error: Callable[[Exception], None],
) -> None:
    """Execute the compiled snippet as a script of its own.

    The blocks of a page run one after the other in the same namespace. An error in one of them is
    reported, and the next one runs; an error in the last is raised.
    """
    module = types.ModuleType("__main__")
    space = module.__dict__
    space["__loader__"] = importlib.machinery.SourceFileLoader("__main__", filename)
    if sys.version_info < (3, 14):
        space["__annotations__"] = {}
    path = os.path.abspath(filename)
    space["__builtins__"] = sys.modules["builtins"]
    space["__file__"] = path if os.path.exists(path) else filename
    space["__cached__"] = None
    for name in provide:
        provided = _provided(name)
        if provided is not None:
            space[name] = provided
    sys.modules["__main__"] = module
    if "__mp_main__" in sys.modules:  # where the processes that it starts find its classes
        sys.modules["__mp_main__"] = module
    sys.argv = list(argv)
    sys.orig_argv = [sys.executable, *argv]
    probe: dict[str, Any] = {}
    exec(stack_depth.PROBE, probe)
    with stack_depth.as_of_script(probe["reached"]):
        _call_as_builtins()
        for block in compiled[:-1]:
            try:
                exec(block, space)
            except Exception as error:
                report_error(error)
        exec(compiled[-1], space)


def _call_as_builtins() -> None:
    """Let AutoGraph call functions of ours as it calls the builtins that they stand for: without
    converting them."""
    stand_ins = (
        *(builtins.input, getpass.getpass, sys.setrecursionlimit, sys.getrecursionlimit),
        *(sys._current_frames, os._exit, os.abort),
    )
    for function in stand_ins:
        if is_ours(str(getattr(function, "__globals__", {}).get("__name__"))):
            private.run_as_it_is(function)


def on_short_frames(run: Callable[[], None]) -> None:
    """``run()``, called through :data:`_SHORT_FRAMES` functions that do nothing else.

    Functions with a condition in them would have longer tables, and cost half a microsecond an op.
    """
    stack_depth.call_below(_SHORT_FRAMES, run)


def remember_text(source: str, filename: str, installed: Installed) -> None:
    """Let tracebacks, ``inspect`` and AutoGraph find the snippet's text, which need not be a file.

    AutoGraph makes ``linecache`` read the file anew (``_fix_linecache_record`` in inspect_utils,
    TensorFlow 2.15-2.21): what it shall find is this text all the same.
    """
    lines = source.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    linecache.cache[filename] = (len(source), None, lines, filename)
    with contextlib.suppress(OSError, SyntaxError, ValueError), tokenize.open(filename) as file:
        if file.read() == "".join(lines):
            return

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
    starts: Sequence[int] = (),
) -> list[CodeType]:
    """Bytecode that reports its bindings; plain bytecode where that cannot be made, or where the
    snippet looks at its own.

    ``first``: changes the tree before. ``starts``: the first line of each block of a page, each of
    which becomes a code object of its own. ``SyntaxError`` is the snippet's own.
    """
    plain: CodeType = compile(source, filename, "exec", dont_inherit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were given for the plain text already
            tree = ast.parse(source, filename)
            if first is None and not starts and _reads_bytecode(source, tree):
                return [plain]
            tree = instrument(tree if first is None else first.visit(tree))
            futures = plain.co_flags & __future__.annotations.compiler_flag
            return [
                compile(block, filename, "exec", flags=futures, dont_inherit=True)
                for block in _cut(tree, starts)
            ]
    except Exception as error:
        note(f"names are not recorded: {type(error).__name__}: {error}")
        return [plain]


def _reads_bytecode(source: str, tree: ast.AST) -> bool:
    """Whether the snippet imports ``dis``, or asks a code object what it holds."""
    if not _OF_BYTECODE.search(source):
        return False
    return any(
        (isinstance(node, ast.Import) and any(each.name == "dis" for each in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "dis")
        or (isinstance(node, ast.Attribute) and node.attr in _FIELDS_OF_BYTECODE)
        for node in ast.walk(tree)
    )


def _cut(tree: ast.Module, starts: Sequence[int]) -> list[ast.Module]:
    """The statements of each block; one that reaches over a start belongs to where it begins.

    Each import of a page stands by itself: a module that is not installed must not keep those
    imported below it from the rest of the page.
    """
    blocks: dict[tuple[int, int], list[ast.stmt]] = {}
    imports = 0
    for statement in tree.body:
        decorators = getattr(statement, "decorator_list", ())
        line = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        is_import = bool(starts) and isinstance(statement, (ast.Import, ast.ImportFrom))
        imports += is_import
        blocks.setdefault((bisect.bisect(starts, line), imports), []).append(statement)
        imports += is_import
    return [ast.Module(body, tree.type_ignores) for body in blocks.values()] or [tree]


def watch(run: Callable[[], None], filename: str) -> list[EventFields]:
    """Run, and emit events of how it ended: ``error`` if it raised, and ``end``.

    Whether a KeyboardInterrupt is the snippet's own or came with Stop is not known here: ``end``
    carries the error as well, for the side that may have stopped it.
    """
    started, process, shows = perf_counter(), os.getpid(), _shows_errors()
    events: list[EventFields] = []
    how, detail, status = "finished", "", 0
    carried: EventFields = {}
    try:
        run()
    except SystemExit as leaving:
        how, detail = "exit", _exit_words(leaving)
        status = leaving.code if isinstance(leaving.code, int) else bool(leaving.code)
    except KeyboardInterrupt as interrupt:
        how = "interrupted"
        lines = _snippet_lines(interrupt.__traceback__, filename)
        detail, status = f"line {lines[-1]}" if lines else "", 128 + signal.SIGINT
        carried = {"error": raised(interrupt, filename)}
        _remember(interrupt)
        _call_changed_hook(interrupt, shows, process)
    except BaseException as error:
        how, status = "raised", 1
        events.append(raised(error, filename))
        _remember(error)
        _call_changed_hook(error, shows, process)
    if os.getpid() != process:
        _end_fork(status)
    seconds = perf_counter() - started
    events.append({"e": "end", "how": how, "seconds": seconds, "detail": detail, **carried})
    return events


def _remember(error: BaseException) -> None:
    """Set the names of ``sys`` that ``PyErr_PrintEx`` sets (Python 3.10-3.13)."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error


def _call_changed_hook(error: BaseException, shows: tuple[Any, Any], process: int) -> None:
    """Let the snippet's own hook print an error, or any hook into the snippet's own stream; in a
    forked process any hook.

    ``shows``: those from before the snippet, which systems and packages replace, too.
    """
    if os.getpid() != process or any(map(is_not, _shows_errors(), shows)):
        _call_hook(error)


def _shows_errors() -> tuple[Any, Any]:
    """The hook that prints errors, and the stream that it prints to."""
    return _own_hook(), getattr(sys, "stderr", None)


def _own_hook() -> Any:
    """``sys.excepthook``, which a snippet can replace by anything, or delete."""
    return getattr(sys, "excepthook", None)


def _call_hook(error: BaseException) -> None:
    """Let the hook print an error; one that fails is printed as ``PyErr_PrintEx`` does."""
    try:
        _own_hook()(type(error), error, error.__traceback__)
    except Exception as trouble:
        shown = trouble.with_traceback(trouble.__traceback__ and trouble.__traceback__.tb_next)
        words = "".join(traceback.format_exception(shown, chain=False))
        sys.stderr.write(f"Error in sys.excepthook:\n{words}\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)


def _end_fork(status: int) -> NoReturn:
    """End a process that the snippet forked, and that came to the snippet's end, as Python does."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(status & 0xFF)


def raised(error: BaseException, filename: str) -> EventFields:
    """The ``error`` event of an exception that nobody caught."""
    clean(error)
    lines = _snippet_lines(error.__traceback__, filename)
    line = lines[-1] if lines else 0
    if isinstance(error, SyntaxError) and error.filename == filename:
        line = error.lineno or line
    try:
        words = str(error)
    except BaseException:  # as Python's own printing does
        words = "<exception str() failed>"
    found = {**_searched_folder(error), **_searched_modules(error)}
    if found and not os.path.isabs(filename) and not filename.startswith("<"):
        found["is_saved"] = False  # of a file the path is whole, of standard input it is <stdin>
    return {
        "e": "error",
        "type": type(error).__name__,
        "message": _ends(words),
        "line": line,
        "traceback": _ends(_printed(error, filename)),
        "frames": lines,
        **held_by_names(error, filename),
        **found,
    }


def _ends(text: str) -> str:
    """A text that nobody reads in full by its ends: of 100 MB each stage makes another copy."""
    kept = limits.ERROR_LETTERS // 2
    left_out = len(text) - 2 * kept
    if left_out <= 0:
        return text
    return f"{text[:kept]}\n… {left_out:,} characters left out …\n{text[-kept:]}"


def _searched_folder(error: BaseException) -> EventFields:
    """The folder in which a file was looked for that is not there, unless its path is whole."""
    name = getattr(error, "filename", None)
    if not isinstance(error, FileNotFoundError) or os.path.isabs(os.fsdecode(name or "/")):
        return {}
    with contextlib.suppress(OSError):
        return {"folder": os.getcwd()}
    return {}


def _searched_modules(error: BaseException) -> EventFields:
    """The interpreter that lacks a module, and the folder in which it looks for modules first."""
    if not isinstance(error, ModuleNotFoundError):
        return {}
    with contextlib.suppress(OSError):
        first = sys.path[0] if sys.path and isinstance(sys.path[0], str) else ""
        return {"python": sys.executable or "", "folder": os.path.abspath(first)}
    return {}


def _printed(error: BaseException, filename: str) -> str:
    """The text that Python prints for an exception that nobody caught.

    Before Python 3.13 that is written in C, and prints other lines than ``traceback`` where a frame
    of the traceback was made by hand (``_process_traceback_frames`` in traceback_utils,
    TensorFlow 2.15-2.21). It reads the lines from files only.
    """
    if not os.path.isfile(filename):
        return "".join(traceback.format_exception(error))
    with contextlib.redirect_stderr(io.StringIO()) as printed:
        sys.__excepthook__(type(error), error, error.__traceback__)
    return printed.getvalue()


def _snippet_lines(trace: TracebackType | None, filename: str) -> list[int]:
    lines = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines


def _exit_words(leaving: SystemExit) -> str:
    """The words of ``sys.exit("words")``, which Python writes to standard error."""
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
