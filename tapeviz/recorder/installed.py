"""Patches in; everything as it was before, at the end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dis import get_instructions
from functools import lru_cache, update_wrapper
from inspect import signature
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

from . import private
from .hooks.instrument import BIND

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


_OF_ENTRY = {
    *("CALL", "CALL_FUNCTION", "COPY_FREE_VARS", "GEN_START", "LOAD_CLOSURE", "LOAD_CONST"),
    *("LOAD_DEREF", "LOAD_FAST", "LOAD_GLOBAL", "MAKE_CELL", "NOP", "POP_TOP", "PRECALL"),
    *("PUSH_NULL", "RESUME", "RETURN_GENERATOR", "STORE_DEREF"),
}
"""Instructions before a function's first statement, with the reports of its parameters
(Python 3.10-3.13)."""


_replaced: set[CodeType] = set()
"""The code of functions that have a replacement now, which calls them."""


class Installed(ExitStack):
    """The one place where something of TensorFlow's or Python's is replaced, and put back."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: list[str] = []
        """Names that were to be replaced and are not there."""

    def replace(self, owner: Any, name: str, wrap: Wrap) -> None:
        """Put ``wrap(original)`` in the place of ``owner.name``, looking like the original.

        A name that ``owner`` lacks goes to :attr:`missing`; the other hooks do their work.
        """
        if not hasattr(owner, name):
            if owner:  # one that is missing itself is known to be
                self.missing.append(f"{getattr(owner, '__name__', owner)}:{name}")
            return
        original = getattr(owner, name)
        had_own = name in vars(owner)
        replacement = wrap(original)
        with suppress(AttributeError, TypeError):
            update_wrapper(replacement, original)
            _describe(replacement, original)
            private.run_as_it_is(replacement)  # AutoGraph would take it for the original's code
        setattr(owner, name, replacement)
        if isinstance(original, FunctionType):
            _replaced.add(original.__code__)
            self.callback(_replaced.discard, original.__code__)
        if had_own:
            self.callback(setattr, owner, name, original)
        else:
            self.callback(delattr, owner, name)

    def undo(self, function: Callable[..., Any], *args: Any) -> None:
        """Call ``function`` at the end, in reverse order; its exceptions are dropped."""

        def quietly() -> None:
            with suppress(Exception):
                function(*args)

        self.callback(quietly)


def _describe(replacement: Any, original: Any) -> None:
    """Let ``inspect`` find the parameters of the original, and ``__defaults__`` its defaults.

    A function with parameters of its own, but for ``*args``, would take them for those.
    """
    if not isinstance(original, FunctionType):
        return
    replacement.__signature__ = signature(original)
    if not replacement.__code__.co_argcount:
        replacement.__defaults__ = original.__defaults__
        replacement.__kwdefaults__ = original.__kwdefaults__


def without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the recorder's own frames."""
    while traceback is not None and is_frame_of_ours(traceback.tb_frame):
        traceback = traceback.tb_next
    at = traceback
    while at is not None and at.tb_next is not None:
        if is_frame_of_ours(at.tb_next.tb_frame):
            at.tb_next = at.tb_next.tb_next
        else:
            at = at.tb_next
    return traceback


def clean(error: BaseException | None) -> None:
    """Take our frames out of an exception and of those it came from."""
    todo: list[BaseException | None] = [error]
    done: set[int] = set()
    while todo:
        found = todo.pop()
        if found is None or id(found) in done:
            continue
        done.add(id(found))
        if found.__traceback__ is not None:
            shown = without_ours(found.__traceback__)
            is_deep = isinstance(found, RecursionError)
            found.__traceback__ = _without_entry(shown) if is_deep else shown
        todo += [found.__cause__, found.__context__]


def _without_entry(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without a function that ends it and had not begun its first statement.

    A function reports its parameters first, for which it gets one frame more than a plain run
    allows; without the report this function could not have been called.
    """
    before, last = None, traceback
    while last is not None and last.tb_next is not None:
        before, last = last, last.tb_next
    if (
        before is not None
        and last is not None
        and _is_at_entry(last.tb_frame.f_code, last.tb_lasti)
    ):
        before.tb_next = None
    return traceback


@lru_cache
def _is_at_entry(code: CodeType, offset: int) -> bool:
    """Whether a function's code has only reported parameters before this instruction."""
    done = [each for each in get_instructions(code) if each.offset <= offset]
    loaded = {each.argval for each in done if each.opname == "LOAD_GLOBAL"}
    return loaded == {BIND} and {each.opname for each in done} <= _OF_ENTRY


def is_frame_of_ours(frame: FrameType) -> bool:
    """Whether no plain run has such a frame: it is the recorder's, or TensorFlow's around it."""
    if frame.f_code is private.CODE_WITH_CALLBACKS:
        return True
    return is_ours(str(frame.f_globals.get("__package__")))


def is_called_by_replacement(frame: FrameType) -> bool:
    """Whether this is the original of a hook, called by the hook: in a plain run the hook's caller
    calls it."""
    above = frame.f_back
    return frame.f_code in _replaced and above is not None and is_frame_of_ours(above)


def is_ours(name: str) -> bool:
    """Whether ``name`` is the recorder's package, or a package or module in it; or in the one that
    a kernel gets together with it, whose ``input()`` stands in for Python's."""
    return f"{name}.".startswith((f"{__package__}.", "_tapeviz_inside."))
