"""Which edits are tried for which cause of a gradient that is zero, NaN or infinite, the likeliest
first."""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis.causes.values.cancelled import Cancelled
from ...analysis.causes.values.multiplied_by_zero import MultipliedByZero
from ...analysis.causes.values.nonfinite import Nonfinite
from ...analysis.causes.values.saturated import AtCorner, EqualValues, NoOverlap, Saturated
from ...analysis.causes.values.zeros import FlatOp
from ...analysis.findings import Evidence
from ..model import FixFunction
from ..smooth.activations import SMOOTH_ABSOLUTE, SMOOTH_MAXIMUM, smooth_activation
from ..smooth.boxes import add_enclosing_box
from ..smooth.comparisons import blend
from ..smooth.decompositions import DISTINCT, JITTER
from ..smooth.logits import from_logits
from ..smooth.sums import CANCELLING, OTHER_SUMS
from ..smooth.zeros import (
    GENTLER,
    GENTLER_ACTIVATION,
    SMOOTH_EXTREME,
    WITHOUT_ZEROS,
    add_logarithms,
    curve_clip,
    smooth_hinge,
)
from ..tapes.functions import start_random
from ..values.estimates import STRAIGHT_THROUGH
from ..values.infinities import (
    SAFE_ANGLE,
    away_from_edge,
    finite_mask,
    off_zero,
    product_with_log,
    safe_before_where,
    safe_division,
    safe_where,
    wider_floats,
)
from ..values.norms import SAFE_NORMS
from ..values.stable_forms import STABLE_LOG, stable_quotient

FIXES_FOR_ZEROS: Mapping[type[Evidence], tuple[FixFunction, ...]] = {
    NoOverlap: (add_enclosing_box,),
    EqualValues: (DISTINCT,),
    AtCorner: (start_random,),
    Saturated: (
        from_logits,
        SMOOTH_EXTREME,
        smooth_hinge,
        STRAIGHT_THROUGH,
        smooth_activation,
        *SMOOTH_MAXIMUM,
        *GENTLER,
        wider_floats,
    ),
    FlatOp: (smooth_activation, *SMOOTH_MAXIMUM, SMOOTH_ABSOLUTE, STRAIGHT_THROUGH),
    MultipliedByZero: (
        curve_clip,
        add_logarithms,
        start_random,
        blend,
        *WITHOUT_ZEROS,
        wider_floats,
        smooth_activation,
        GENTLER_ACTIVATION,
    ),
    Cancelled: (
        *CANCELLING,
        start_random,
        blend,
        *OTHER_SUMS,
    ),
    Nonfinite: (
        finite_mask,
        STABLE_LOG,
        *SAFE_NORMS,
        safe_where,
        safe_before_where,
        product_with_log,
        SAFE_ANGLE,
        JITTER,
        stable_quotient,
        safe_division,
        away_from_edge,
        off_zero,
        wider_floats,
    ),
}
