"""Which Debian packages Qt misses, told before Qt can abort."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from tapeviz import system_libraries
from tapeviz.system_libraries import missing_packages, platform_in_use

linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="wheels bring all they need"
)


@pytest.mark.parametrize(
    ("environment", "platform"),
    [
        ({}, "offscreen"),
        ({"DISPLAY": ":0"}, "xcb"),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "wayland"),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, "offscreen"),
        ({"QT_QPA_PLATFORM": "xcb:some=option"}, "xcb"),
    ],
)
def test_platform_in_use(
    environment: dict[str, str], platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert platform_in_use() == platform


@linux
def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        if "cursor" in name or "glib" in name:
            raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert missing_packages("offscreen") == ("libglib2.0-0",)
    assert missing_packages("xcb") == ("libglib2.0-0", "libxcb-cursor0")
    assert missing_packages("wayland") == ("libglib2.0-0", "libwayland-cursor0")


def test_other_systems_miss_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert missing_packages("xcb") == ()


@linux
@pytest.mark.parametrize("platform", ["offscreen", "xcb"])
def test_every_library_that_qt_links_to_is_looked_for(platform: str) -> None:
    """The output of ``ldd`` for Qt's own plugin, less what it brings and what every system has."""
    import PySide6

    qt = Path(PySide6.__file__).parent
    files = [qt / "QtWidgets.abi3.so", qt / "Qt" / "plugins" / "platforms" / f"libq{platform}.so"]
    needed: set[str] = set()
    for file in [*files, *qt.glob("Qt/lib/libQt6Gui.so.6"), *qt.glob("Qt/lib/libQt6XcbQpa.so.6")]:
        if platform == "offscreen" and "Xcb" in file.name:
            continue
        try:
            said = subprocess.run(["objdump", "-p", file], capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("needs objdump")
        needed |= {line.split()[1] for line in said.stdout.splitlines() if "NEEDED" in line}
    ours = ("libQt6", "libpyside6", "libshiboken6", "libicu")
    everywhere = ("libc.", "libm.", "libstdc++.", "libgcc_s.", "ld-linux", "libdl.", "libpthread.")
    known = system_libraries._EVERY_PLATFORM | system_libraries._BY_PLATFORM[platform]
    assert {name for name in needed if not name.startswith(ours + everywhere)} <= set(known)
