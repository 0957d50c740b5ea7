"""Keep what the user chose for the next start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from .places import config_folder, state_folder

MOST_RECENT = 12


class Settings:
    """Typed access to the settings file; ``state``: the folder of drafts and log."""

    def __init__(self) -> None:
        self.state = state_folder()
        self._kept = QSettings(str(config_folder() / "tapeviz.ini"), QSettings.Format.IniFormat)

    def text(self, name: str, default: str = "") -> str:
        return str(self._kept.value(name, default))

    def flag(self, name: str, default: bool = False) -> bool:
        return self.text(name, str(default)).lower() == "true"

    def number(self, name: str, default: int) -> int:
        try:
            return int(self.text(name, str(default)))
        except ValueError:
            return default

    def blob(self, name: str, default: QByteArray) -> QByteArray:
        kept = self._kept.value(name)
        return kept if isinstance(kept, QByteArray) else default

    def kept(self, name: str, default: Any) -> Any:
        """The value kept under a name, of the type of ``default``: bool, int, text, bytes of Qt."""
        if isinstance(default, bool):
            return self.flag(name, default)
        if isinstance(default, int):
            return self.number(name, default)
        if isinstance(default, QByteArray):
            return self.blob(name, default)
        return self.text(name, default)

    def keep(self, name: str, value: Any) -> None:
        self._kept.setValue(name, str(value) if isinstance(value, bool) else value)

    @property
    def recent(self) -> list[Path]:
        """Files opened lately, the last first."""
        try:
            names = json.loads(self.text("recent", "[]"))
        except ValueError:
            names = []
        return [Path(name) for name in names if isinstance(name, str)][:MOST_RECENT]

    def add_recent(self, path: Path) -> None:
        path = path.resolve()
        kept = [path, *(path_ for path_ in self.recent if path_ != path)][:MOST_RECENT]
        self.keep("recent", json.dumps([str(path) for path in kept]))

    def forget_recent(self) -> None:
        self.keep("recent", "[]")

    def write(self) -> None:
        self._kept.sync()
