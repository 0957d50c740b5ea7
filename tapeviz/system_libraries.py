"""List the Debian packages whose libraries a Qt platform misses on this machine.

Qt aborts without a word a newcomer understands when one of them is missing, so they are looked for
before Qt is imported. ``python -m tapeviz.system_libraries`` prints the packages, status 1 if any.
"""

from __future__ import annotations

import ctypes
import os
import sys

# What QtGui, QtWidgets and QtSvg of the PySide6 6.8 to 6.12 wheels link to and do not bring along.
_EVERY_PLATFORM = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libX11.so.6": "libx11-6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
_BY_PLATFORM = {
    "offscreen": {},
    "xcb": {
        "libX11-xcb.so.1": "libx11-xcb1",
        "libxcb.so.1": "libxcb1",
        "libxcb-cursor.so.0": "libxcb-cursor0",
        "libxcb-icccm.so.4": "libxcb-icccm4",
        "libxcb-image.so.0": "libxcb-image0",
        "libxcb-keysyms.so.1": "libxcb-keysyms1",
        "libxcb-randr.so.0": "libxcb-randr0",
        "libxcb-render.so.0": "libxcb-render0",
        "libxcb-render-util.so.0": "libxcb-render-util0",
        "libxcb-shape.so.0": "libxcb-shape0",
        "libxcb-shm.so.0": "libxcb-shm0",
        "libxcb-sync.so.1": "libxcb-sync1",
        "libxcb-util.so.1": "libxcb-util1",
        "libxcb-xfixes.so.0": "libxcb-xfixes0",
        "libxcb-xkb.so.1": "libxcb-xkb1",
        "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    },
    "wayland": {
        "libwayland-client.so.0": "libwayland-client0",
        "libwayland-cursor.so.0": "libwayland-cursor0",
    },
}


def platform_in_use() -> str:
    """The Qt platform that this environment leads to: ``offscreen``, ``xcb`` or ``wayland``."""
    chosen = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    if chosen in _BY_PLATFORM:
        return chosen
    if os.environ.get("WAYLAND_DISPLAY"):
        return "wayland"
    return "xcb" if os.environ.get("DISPLAY") else "offscreen"


def missing_packages(platform: str | None = None) -> tuple[str, ...]:
    """The Debian packages to install before Qt can start on ``platform`` (that in use).

    Empty on macOS and Windows, where the wheels bring all they need.
    """
    if not sys.platform.startswith("linux"):
        return ()
    libraries = _EVERY_PLATFORM | _BY_PLATFORM[platform or platform_in_use()]
    return tuple(
        sorted({package for name, package in libraries.items() if not _can_be_loaded(name)})
    )


def missing_words(platform: str | None = None) -> str:
    """One line that names what to install before Qt can start; empty when nothing is missing."""
    missing = missing_packages(platform)
    if not missing:
        return ""
    packages = " ".join(missing)
    return (
        "Qt misses system libraries; on Debian and Ubuntu install them with  "
        f"sudo apt install {packages}"
    )


def _can_be_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    packages = missing_packages()
    print(*packages)
    sys.exit(bool(packages))
