"""Marks for tests that some versions of Python cannot pass."""

from __future__ import annotations

import sys

import pytest

needs_columns = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 tells the line on which an op ran alone"
)
