"""Open the window with paths and options of the command line; the exit status comes out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TapevizError
from ..system_libraries import missing_words, platform_in_use

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from ..kernel import KernelChoice
    from .processes.pools import Pools
    from .window import Window


def open_window(paths: Sequence[str], options: Any = None) -> int:
    """Show the window until the user closes it; returns the exit status.

    ``options``: ``python``, ``kernel``, ``timeout``, ``args``, ``no_network``, ``memory`` of the
    command line. Raises :class:`TapevizError` if no window can be shown.
    """
    check_screen()
    pools = make_pools_and_load_qt(options)
    from .ending import SignalCloser, leave
    from .storage.settings import Settings

    settings = Settings()
    application = make_application()
    window = make_window(settings, options, pools)
    open_first(window, [Path(path) for path in paths])
    closer = SignalCloser(window)
    window.show()
    status = application.exec()
    closer.release()
    return leave(window, int(status))


def check_screen() -> None:
    """Raise :class:`TapevizError` if Qt cannot start here: it would abort the process."""
    missing = missing_words()
    if missing:
        raise TapevizError(missing)
    has_screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    is_chosen = os.environ.get("QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not has_screen and not is_chosen:
        raise TapevizError(
            "there is no display to show a window on; "
            "tapeviz explain FILE and tapeviz export FILE -o OUT.png need none"
        )
    if platform_in_use() == "xcb" and not is_chosen and not _answers_x():
        raise TapevizError(f"the display {os.environ.get('DISPLAY')} does not answer")


def _answers_x() -> bool:
    """Whether the X server of DISPLAY accepts connections; True if that cannot be asked."""
    import ctypes

    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError:
        return True
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    display = x11.XOpenDisplay(None)
    if not display:
        return False
    x11.XCloseDisplay(display)
    return True


def make_application() -> QApplication:
    from PySide6.QtWidgets import QApplication

    from ..paint.fonts import load_fonts
    from ..priority import put_this_thread_first
    from .processes.garbage import GarbageCollector
    from .processes.heap import return_large_blocks

    put_this_thread_first()
    known = QApplication.instance()
    application = known if isinstance(known, QApplication) else QApplication(["tapeviz"])
    if application.findChild(GarbageCollector) is None:
        GarbageCollector(application)
        return_large_blocks()
    application.setApplicationName("tapeviz")
    application.setApplicationDisplayName("tapeviz")
    application.setDesktopFileName("io.github.tapeviz.tapeviz")
    application.setStyle("Fusion")
    load_fonts()
    return application


def make_pools_and_load_qt(options: Any = None) -> Pools:
    """Begin to start processes, and import Qt meanwhile: in a process TensorFlow takes seconds.

    Qt's bindings walk over ``sys.modules`` when they are imported, and abort if another thread
    imports something just then: what the pools need is imported after them.
    """
    from ..kernel.supply import LOADING

    with LOADING:
        pools = make_pools(options)
        import numpy.ma  # noqa: F401 (np.unique would import it in the middle of a run)
        import PySide6  # noqa: F401
    return pools


def make_pools(options: Any = None) -> Pools:
    """The pools of processes for snippets; the first process begins to start."""
    from ..kernel import Confinement
    from .processes.pools import Pools

    limits = Confinement(getattr(options, "no_network", False), getattr(options, "memory", None))
    return Pools(_choice(options), limits)


def make_window(settings: Any, options: Any = None, pools: Pools | None = None) -> Window:
    """The window with real kernels, not yet shown."""
    pools = pools or make_pools(options)
    from ..bugs import start_log
    from ..document import Document
    from ..document.pipeline import Stages
    from .processes import trouble
    from .processes.freeing import Freeing
    from .processes.garbage import GarbageCollector
    from .processes.live import LivePipeline
    from .window import Window

    start_log(settings.state)
    pipeline = LivePipeline(pools)
    pipeline.timeout = getattr(options, "timeout", None)
    pipeline.arguments = tuple(getattr(options, "args", None) or ())
    window = Window(Document(pipeline, Stages()), settings, pipeline)
    collector = make_application().findChild(GarbageCollector)
    if collector is not None:
        collector.watch(window.document)
    Freeing(window.document)
    trouble.catch_all(window.document.complain)
    pools.report_to(window.kernels.reported.emit)
    return window


def _choice(options: Any) -> KernelChoice:
    from ..kernel import choose_interpreter, choose_kernel
    from .processes.pools import remembered_choice

    python, kernel = getattr(options, "python", None), getattr(options, "kernel", None)
    if python:
        return choose_interpreter(python)
    if kernel:
        return choose_kernel(kernel)
    return remembered_choice()


def open_first(window: Window, paths: Sequence[Path]) -> None:
    """Open the first text of a window: a file of the command line, a draft, or an example."""
    from ..files.examples import default_example

    if paths:
        has_drafts = window.draft.set_left_aside()
        window.files.open(paths[0])
        for path in paths[1:]:
            window.settings.add_recent(path)
        if paths[0].suffix != ".tape" and window.document.text.source:
            window.run()
        if has_drafts:
            window.document.say("An unsaved text of last time is under Open recent")
    elif window.files.restore_draft() is None:
        window.files.open_example(default_example())
