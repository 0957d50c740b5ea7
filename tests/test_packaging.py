"""The parts that are shipped: pinned versions, resources in the wheel, desktop files."""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
LINUX = ROOT / "packaging" / "linux"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def environment(python: str, system: str) -> dict[str, str]:
    return {
        "python_version": python,
        "python_full_version": f"{python}.5",
        "sys_platform": system,
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }


def pinned(python: str, system: str) -> dict[str, str]:
    """Name to version, as pip would read the constraints there."""
    pins = {}
    for line in re.findall(r"^([a-z0-9].*?) \\$", CONSTRAINTS, re.MULTILINE):
        requirement = Requirement(line)
        if not requirement.marker or requirement.marker.evaluate(environment(python, system)):
            assert requirement.name not in pins, f"two versions of {requirement.name}"
            pins[requirement.name] = str(requirement.specifier).removeprefix("==")
    return pins


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
def test_every_requirement_is_pinned_to_a_version_it_allows(python: str, system: str) -> None:
    pins = pinned(python, system)
    project = PROJECT["project"]
    wanted = [
        *project["dependencies"],
        *project["optional-dependencies"]["dev"],
        *PROJECT["dependency-groups"]["build"],
    ]
    for text in wanted:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate(environment(python, system)):
            continue
        version = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{text}: pinned to {version}"


def test_constraints_name_no_host_and_hash_everything() -> None:
    assert "://" not in CONSTRAINTS
    assert "--index" not in CONSTRAINTS
    blocks = re.split(r"\n(?=[a-z0-9])", CONSTRAINTS)[1:]
    assert len(blocks) > 50
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_wheel_brings_the_resources(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    resources = {
        f"tapeviz/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "resources").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert resources <= inside
    assert not [name for name in inside if name.startswith(("tests", "packaging"))]


def test_qt_keeps_its_references_to_none() -> None:
    """PySide6 6.12.0 drops one at each void call on Python 3.10 and 3.11, and aborts in the end."""
    from PySide6.QtCore import QObject

    thing = QObject()
    before = sys.getrefcount(None)
    for _ in range(1000):
        thing.setObjectName("x")
    assert sys.getrefcount(None) > before - 500


def test_the_menu_entry_and_the_store_page_agree() -> None:
    (desktop_file,) = LINUX.glob("*.desktop")
    (metainfo_file,) = LINUX.glob("*.metainfo.xml")
    (mime_file,) = LINUX.glob("*.mime.xml")
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read(desktop_file, encoding="utf-8")
    desktop = entry["Desktop Entry"]
    metainfo = ElementTree.parse(metainfo_file).getroot()
    assert metainfo.findtext("launchable") == desktop_file.name
    assert metainfo.findtext("id") == desktop["Icon"] == desktop_file.stem
    media = {each.text for each in metainfo.iter("mediatype")}
    assert media == set(desktop["MimeType"].strip(";").split(";"))
    ours = next(iter(ElementTree.parse(mime_file).getroot()))
    assert ours.get("type") in media
    releases = [each.get("version") for each in metainfo.iter("release")]
    assert releases[0] == PROJECT["project"]["version"]


def test_the_version_is_told_once() -> None:
    import tapeviz

    assert tapeviz.__version__ == PROJECT["project"]["version"]
