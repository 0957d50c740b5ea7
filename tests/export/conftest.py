"""Painting makes an application if there is none; the widgets of other tests need a larger one."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def application(qapp: Any) -> Any:
    """pytest-qt's, made before a writer makes its own."""
    return qapp
