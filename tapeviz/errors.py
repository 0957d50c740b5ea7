"""The one error a user may read; everything else is a bug and keeps its traceback."""

from __future__ import annotations


class TapevizError(Exception):
    """Something the user can mend; ``str(error)`` is one line that says what to do.

    The command line prints it and ends with :attr:`exit_status`.
    """

    exit_status = 3
