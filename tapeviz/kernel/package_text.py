"""The folder of a package in, the source texts of its modules under a private name out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tapeviz.errors import TapevizError


@dataclass(frozen=True, slots=True)
class PackageText:
    """``texts``: by full module name; ``packages``: the names of those that are packages."""

    texts: dict[str, str]
    packages: tuple[str, ...]


def read_package(folder: Path, name: str) -> PackageText:
    """Every ``.py`` file below ``folder`` as a module of the package ``name``."""
    texts: dict[str, str] = {}
    packages: list[str] = []
    for file in sorted(folder.rglob("*.py")):
        parts = [name, *file.relative_to(folder).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
            packages.append(".".join(parts))
        texts[".".join(parts)] = file.read_text(encoding="utf-8")
    if name not in packages:
        raise TapevizError(f"{folder} is no package: reinstall tapeviz")
    return PackageText(texts, tuple(packages))
