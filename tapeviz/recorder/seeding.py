"""The random numbers of a snippet that sets no seed: others in each run, the same if asked to.

Processes forked from one would else all draw the same from Python and NumPy. TensorFlow leaves
the choice to the op's kernel where neither the snippet nor the op has a seed: ``get_seed`` gives
two Nones then (``random_seed.py``, 2.15-2.21). Such ops get seeds of ours, and no others: what a
snippet seeds by itself is drawn as TensorFlow draws it. Ops of a graph are left alone, for under a
seed each tracing of a function draws alike.

``np.random.default_rng()`` and every bit generator without a seed take their entropy from
``randbits`` of ``numpy.random.bit_generator`` (NumPy 1.26 to 2.4): that is what is drawn here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count as counter
from typing import Any

import numpy as np
import numpy.random.bit_generator as bit_generator

from . import private
from .installed import Installed

Seeds = tuple[Any, Any]


def sow(seed: int, installed: Installed) -> None:
    """``seed``: 31 bits; all that follows is drawn from it."""
    random.seed(seed)
    np.random.seed(seed)
    entropy = random.Random(seed)
    installed.replace(bit_generator, "randbits", lambda _: lambda bits: entropy.getrandbits(bits))
    installed.replace(private.random_seeds, "get_seed", lambda get: _sowing(seed, get))


def _sowing(seed: int, get: Callable[..., Seeds]) -> Callable[..., Seeds]:
    count = counter(1)

    def get_seed(op_seed: Any) -> Seeds:
        seeds = get(op_seed)
        if seeds == (None, None) and private.is_eager():
            return seed, next(count)
        return seeds

    return get_seed
