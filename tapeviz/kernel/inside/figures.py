"""Modules that draw in; what they would show in a window of their own, as PNG, out.

``plt.show()`` and PIL's ``Image.show()`` hand their pictures over and return at once. Without a
screen a plain run shows nothing there. Neither library is imported by us.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Mapping
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

MOST = 100
"""Pictures of a run."""
LARGEST = 8_000_000
"""Bytes of a picture that is handed over."""
Publish = Callable[[bytes], None]


def show_figures(publish: Publish) -> None:
    """From now on ``publish`` is given each picture that would be shown, once."""
    gallery = _Gallery(publish)
    hooks: dict[str, Callable[[Any], None]] = {
        "matplotlib.pyplot": gallery.hook_pyplot,
        "PIL.Image": gallery.hook_pillow,
    }
    for name in [name for name in hooks if name in sys.modules]:
        hooks.pop(name)(sys.modules[name])
    finder: Any = _AfterImport(hooks)
    sys.meta_path.insert(0, finder)


class _AfterImport(MetaPathFinder):
    """Calls a hook with each of some modules once it is imported."""

    def __init__(self, hooks: Mapping[str, Callable[[Any], None]]) -> None:
        self._hooks = dict(hooks)

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        hook = self._hooks.pop(name, None)
        spec = importlib.util.find_spec(name) if hook is not None else None
        if spec is None or spec.loader is None or hook is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            hook(module)

        loader.exec_module = exec_module
        return spec


class _Gallery:
    """Hands over pictures, in the process that the run began in."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._shown: dict[object, bytes] = {}
        self._count = 0
        self._pid = os.getpid()

    def _show(self, key: object, png: bytes) -> None:
        is_news = self._shown.get(key) != png and len(png) <= LARGEST
        if is_news and self._count < MOST and os.getpid() == self._pid:
            self._count += 1
            self._shown[key] = png
            self._publish(png)

    def hook_pyplot(self, pyplot: Any) -> None:
        @functools.wraps(pyplot.show)
        def show(*args: Any, **options: Any) -> None:
            numbers = pyplot.get_fignums()
            current = pyplot.gcf().number if numbers else None
            for number in numbers:
                figure, file = pyplot.figure(number), io.BytesIO()
                figure.savefig(file, format="png", bbox_inches="tight")
                self._show(number, file.getvalue())
            if current is not None:
                pyplot.figure(current)

        pyplot.show = show

    def hook_pillow(self, image: Any) -> None:
        @functools.wraps(image.Image.show)
        def show(picture: Any, *args: Any, **options: Any) -> None:
            file = io.BytesIO()
            fits = picture.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16")
            (picture if fits else picture.convert("RGB")).save(file, format="PNG")
            self._show(self._count, file.getvalue())

        image.Image.show = show
