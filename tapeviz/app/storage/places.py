"""The folders for settings and drafts, found without Qt."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_config_path, user_state_path


def config_folder() -> Path:
    """The folder of the settings; ``TAPEVIZ_HOME`` replaces it."""
    home = os.environ.get("TAPEVIZ_HOME")
    return Path(home) if home else user_config_path("tapeviz", appauthor=False)


def state_folder() -> Path:
    """The folder of drafts and log; ``TAPEVIZ_HOME`` replaces it."""
    home = os.environ.get("TAPEVIZ_HOME")
    return Path(home) if home else user_state_path("tapeviz", appauthor=False)
