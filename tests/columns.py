"""A mark for tests of what the columns of a line tell."""

from __future__ import annotations

import sys

import pytest

needs_columns = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 tells the line on which an op ran alone"
)
