"""Catch the pictures that drawing modules would show in a window, or in a notebook, as PNG.

``plt.show()`` and PIL's ``Image.show()`` hand their pictures over and return at once. Without a
screen a plain run shows nothing there. ``IPython.display.display()`` hands over what a notebook
would show, and prints what a plain run prints. None of these libraries is imported by us.

matplotlib draws without windows unless the user names a backend, and the snippet finds no
``MPLBACKEND`` in its environment: it is set while matplotlib is imported, which reads it then
(``matplotlib/__init__.py``, 3.0-3.10).
"""

from __future__ import annotations

import os
import sys
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import partial, wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from io import BytesIO
from os import getpid
from typing import Any

MOST = 100
"""Pictures of a run, at most."""
LARGEST = 8_000_000
"""Bytes of a picture, at most."""
Publish = Callable[[bytes], None]
Execute = Callable[[Any], None]
Around = Callable[[Any, Execute], None]
"""Given a module that is imported and the function that executes it."""
_BACKEND = "MPLBACKEND"


def draw_without_windows(publish: Publish | None) -> None:
    """Open no window from now on: give ``publish`` each picture that would be shown, once.

    Without ``publish`` the functions that show pictures stay as they are.
    """
    around: dict[str, Around] = {"matplotlib": _off_screen}
    if publish is not None:
        gallery = _Gallery(publish)
        hooks = {
            "matplotlib.pyplot": gallery.hook_pyplot,
            "PIL.Image": gallery.hook_pillow,
            "IPython.display": gallery.hook_display,
        }
        for name, hook in hooks.items():
            if name in sys.modules:
                hook(sys.modules[name])
            else:
                around[name] = partial(_followed_by, hook)
    finder: Any = _AroundImport(around)
    sys.meta_path.insert(0, finder)


def _followed_by(hook: Execute, module: Any, execute: Execute) -> None:
    execute(module)
    hook(module)


def _off_screen(module: Any, execute: Execute) -> None:
    if os.environ.get(_BACKEND):
        execute(module)
        return
    os.environ[_BACKEND] = "Agg"
    try:
        execute(module)
    finally:
        os.environ.pop(_BACKEND, None)


class _AroundImport(MetaPathFinder):
    """Lets a function execute each of some modules when it is imported, once."""

    def __init__(self, around: Mapping[str, Around]) -> None:
        self._around = dict(around)

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        around = self._around.pop(name, None)
        spec = find_spec(name) if around is not None else None
        if spec is None or spec.loader is None or around is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module
        loader.exec_module = lambda module: around(module, execute)
        return spec


class _Gallery:
    """Hands over pictures, but not from child processes."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._shown: dict[object, bytes] = {}
        self._count = 0
        self._pid = getpid()

    def _show(self, key: object, png: bytes) -> None:
        is_news = self._shown.get(key) != png and len(png) <= LARGEST
        if is_news and self._count < MOST and getpid() == self._pid:
            self._count += 1
            self._shown[key] = png
            self._publish(png)

    def hook_pyplot(self, pyplot: Any) -> None:
        @wraps(pyplot.show)
        def show(*args: Any, **options: Any) -> None:
            numbers = pyplot.get_fignums()
            current = pyplot.gcf().number if numbers else None
            for number in numbers if self._count < MOST else ():
                figure, file = pyplot.figure(number), BytesIO()
                # matplotlib sets ``stale`` at most changes (not at a turn of a 3D plot). A snippet
                # that shows a figure in each turn, and closes none, would draw them all each time.
                if figure.stale or number == current:
                    figure.savefig(file, format="png", bbox_inches="tight")
                    figure.stale = False
                    self._show(number, file.getvalue())
            if current is not None:
                pyplot.figure(current)

        pyplot.show = show

    def hook_pillow(self, image: Any) -> None:
        @wraps(image.Image.show)
        def show(picture: Any, *args: Any, **options: Any) -> None:
            file = BytesIO()
            fits = picture.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16")
            (picture if fits else picture.convert("RGB")).save(file, format="PNG")
            self._show(self._count, file.getvalue())

        image.Image.show = show

    def hook_display(self, module: Any) -> None:
        display = module.display

        @wraps(display)
        def displaying(*objects: Any, **options: Any) -> Any:
            result = display(*objects, **options)
            for each in objects:
                png = _png_of(each)
                if png is not None:
                    self._show(self._count, png)
            return result

        module.display = displaying


def _png_of(displayed: Any) -> bytes | None:
    """The picture of an object that a notebook would show; None if it has none, or if its class is
    the snippet's: a plain run does not call the methods that make it.

    ``_repr_png_`` returns bytes or base64, alone or with metadata (IPython's display protocol).
    """
    make = getattr(type(displayed), "_repr_png_", None)
    if make is None or type(displayed).__module__ == "__main__":
        return None
    try:
        png = make(displayed)
        png = png[0] if isinstance(png, tuple) else png
        return b64decode(png) if isinstance(png, str) else bytes(png) if png else None
    except Exception:  # a plain run does not come to it
        return None
