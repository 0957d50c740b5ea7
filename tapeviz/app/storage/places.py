"""Nothing in; the folders that settings and drafts are kept in, out. Qt is not needed."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_config_path, user_state_path


def config_folder() -> Path:
    """For what the user chose; ``TAPEVIZ_HOME`` puts it elsewhere."""
    home = os.environ.get("TAPEVIZ_HOME")
    return Path(home) if home else user_config_path("tapeviz", appauthor=False)


def state_folder() -> Path:
    """For drafts and the log; ``TAPEVIZ_HOME`` puts it elsewhere."""
    home = os.environ.get("TAPEVIZ_HOME")
    return Path(home) if home else user_state_path("tapeviz", appauthor=False)
