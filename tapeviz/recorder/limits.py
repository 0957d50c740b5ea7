"""How much the recorder keeps, sends and computes in the user's process, at most."""

from __future__ import annotations

MEBIBYTE = 1 << 20

# Memory, in bytes. The first three are the defaults of a run's options ``value_budget``,
# ``keep_budget`` and ``call_budget``.
VALUE_BYTES = 64 * MEBIBYTE
"""Elements that are sent with the events."""
KEPT_BYTES = 1536 * MEBIBYTE
"""Tensors that are held so that their elements can be asked for; the oldest are let go of."""
CALL_BYTES = 512 * MEBIBYTE
"""Arguments and variables that are held to run calls of compiled functions again."""
PASSING_BYTES = 128 * MEBIBYTE
"""Tensors that are held though they could be computed again. A plain run uses their memory again
and again; more than these would be memory that it never touches, which costs as much time as many
an op."""
UNSENT_BYTES = 64 * MEBIBYTE
"""Events that wait for the end of a snippet that broke what sends them; later ones are lost."""

# Values and names.
ELEMENTS_SENT = 1024
"""Elements of a tensor that are sent while the snippet runs (the option ``value_limit``); those of
larger ones can be asked for."""
ELEMENTS_OF_RESULT = 10_000
"""The same for what a gradient call gave, and for what exists as a NumPy array only."""
ELEMENTS_OF_NAME = 100
"""Elements of a list or dict that are looked through for tensors when it gets a name."""
BINDINGS_OF_NAME = 10_000
"""Bindings of a name to a value without tensors that are sent for one instruction, in addition to
one for each op that ran."""
CAUGHT_ERRORS = 10_000
"""Exceptions that the snippet caught which are sent."""
LETTERS_OF_CAUGHT = 300
"""Letters of the message of one."""
OPS_BACK = 5_000
"""Ops before a step of a backward pass among which its forward op is looked for."""

# Calls of compiled functions.
CALLS_KEPT = 20_000
"""Calls and writes that are held to run calls again."""
SECONDS_INSIDE = 3.0
"""Time for looks into calls when the snippet is over."""
SECONDS_TO_STATE = 20.0
"""Time to compute the variables before one call."""
DEEPEST_FUNCTION = 30
"""Functions in functions that are looked into."""
VALUES_OF_CALL = 50_000
"""Values that are sent of one look into a call."""
TURNS_AT_EITHER_END = 8
"""Turns of a loop, first and last ones, whose values are sent with such a look."""
BYTES_TAKEN_BY_LOOP = 256 * MEBIBYTE
"""Bytes that the turns of a loop may take from iterators, random numbers and Python to be held."""
BYTES_OF_TURNS = 512 * MEBIBYTE
"""Bytes that all turns of the loops of a call may give to be held at once."""
TURNS_UNTIL_ERROR = 1 << 14
"""Turns of a loop that are tried to find the one that raised."""

# Tensors that were let go of.
OPS_AGAIN = 20_000
"""Ops that are run again to compute one."""
SECONDS_AGAIN = 10.0
"""Time for that."""

# Checks by finite differences.
OPS_OF_CHECK = 20_000
"""Ops that are run again for each point."""
ELEMENTS_OF_CHECK = 12
"""Elements of a source that are moved one by one; a larger one is moved in random directions."""
OPS_OF_DIRECTIONS = 6_000
"""Ops that are run again for all directions of one size of step, unless a single one takes more."""
SECONDS_OF_CHECK = 1.5
"""Time of the processor for one source: a busy machine checks as much as an idle one."""
ERROR_LETTERS = 1_000_000
"""Letters of an exception's message, and of its traceback: half of them from each end."""
NAMES_OF_ERROR = 300
"""Names of the frame that raised an exception which are sent with it, with what they meant."""
KEYS_OF_NAME = 20
"""Keys of a dict, or attributes of an object, that are sent then."""
