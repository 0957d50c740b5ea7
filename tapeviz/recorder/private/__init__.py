"""Every private name of TensorFlow that the recorder needs, and small readings of them.

Seen alike on TensorFlow 2.15.1, 2.17.1 and 2.21.0; nowhere else is a private name spelled, except
for the attributes in :data:`~tensors.EAGER_ATTRIBUTES`. Where a version lacks a name, what needs it
is left out, and the recording has a note that says so.
"""

from __future__ import annotations

from . import functions as functions
from .dataset_loops import *  # noqa: F403
from .frames import *  # noqa: F403
from .graphs import *  # noqa: F403
from .lookup import MISSING as MISSING
from .runtime import *  # noqa: F403
from .tapes import *  # noqa: F403
from .tensors import *  # noqa: F403
from .variables import *  # noqa: F403
