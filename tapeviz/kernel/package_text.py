"""Read the source texts of a package's modules, under a private name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import TapevizError


@dataclass(frozen=True, slots=True)
class PackageText:
    """The source texts of a package. ``texts``: by full module name; ``packages``: the names of
    those that are packages; ``places``: by full module name the path that stands in its code."""

    texts: dict[str, str]
    packages: tuple[str, ...]
    places: dict[str, str]

    def with_other(self, other: PackageText) -> PackageText:
        return PackageText(
            self.texts | other.texts, self.packages + other.packages, self.places | other.places
        )


def read_package(folder: Path, name: str) -> PackageText:
    """Every ``.py`` file below ``folder`` as a module of the package ``name``."""
    texts: dict[str, str] = {}
    packages: list[str] = []
    places: dict[str, str] = {}
    for file in sorted(folder.rglob("*.py")):
        parts = [name, *file.relative_to(folder).with_suffix("").parts]
        place = f"<tapeviz>/{'/'.join(parts)}.py"
        if parts[-1] == "__init__":
            parts.pop()
            packages.append(".".join(parts))
        texts[".".join(parts)] = file.read_text(encoding="utf-8")
        places[".".join(parts)] = place
    if name not in packages:
        raise TapevizError(f"{folder} is no package: reinstall tapeviz")
    return PackageText(texts, tuple(packages), places)
