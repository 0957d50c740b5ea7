"""The expected gradients of each example, reasoned from what its own text says.

One list for each gradient call, in order. ``None`` stands for a gradient that flows, with no
cause; else the status, the kind of the cause and the beginning of the line to look at, and for an
assign the gradient across it, worked out by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Missing:
    """A gradient that is not there, or not what it should be."""

    status: str
    kind: str
    code: str
    bridged: Any = None


def _none(kind: str, code: str, bridged: Any = None) -> Missing:
    return Missing("none", kind, code, bridged)


Outcome = list[list[Missing | None]]

OUTCOMES: dict[str, Outcome] = {
    # mean = Σ(X Xᵀ)/4 with X = [[p₁ p₂ 4], [p₃ p₄ 100]]: its slope is the column sums over 2.
    "slice_assign": [[_none("assign", "image[:2, :2].assign(patch)", [[1, 2], [1, 2]])]],
    "slice_assign_far_side": [[None]],
    "slice_assign_repaired": [[None]],
    # (near + far)² at 1 and 2: 2 · 3 for both.
    "assign_combination": [
        [
            _none("assign", "blend.assign(near + far)", 6.0),
            _none("assign", "blend.assign(near + far)", 6.0),
        ]
    ],
    "assign_combination_watched": [[_none("assign", "blend.assign(near + far)", 6.0), None]],
    "assign_combination_repaired": [[None, None]],
    # |m| with m = (1.01, 4.05), slope (1, 5): (1.01 + 20.25) / |m|.
    "interpolated_lists": [
        [
            _none(
                "assign",
                "tf.nest.map_structure(lambda weight, value: weight.assign(value)",
                21.26 / (1.01**2 + 4.05**2) ** 0.5,
            )
        ],
        [None],
    ],
    # (1 + 4r − 2)² at 0.1: 2 · (−0.6) · 4.
    "inner_step_assigned": [[None], [_none("assign", "weight.assign_sub(step)", -4.8), None]],
    # Σ (3s)²: 18 s.
    "new_variable": [[_none("new-variable", "state = tf.Variable(3.0 * seed)", [18, 36]), None]],
    "chain_by_output_gradients": [[None], [None]],
    "chain_for_lists": [[None]] * 4,
    "chain_by_jacobian": [[None]] * 7,
    "simple_tape": [[None]],
    "nested_tapes_two_variables": [[None], [None]],
    "nested_tapes_one_variable": [[None], [None]],
    "two_tapes_at_once": [[None], [None]],
    "persistent_tape": [[None], [None]],
    "list_of_targets": [[None, None]] * 3,
    "per_sample_loss": [[None, None]] * 2,
    "surrogate_gradient_sum": [[None]],
    "surrogate_gradient_product": [[None]],
    "surrogate_gradient_graph_mode": [[None], [None]],
    "custom_gradient": [[None]],
    "custom_gradient_graph_mode": [[None]],
    "unwatched_constant": [[_none("not-watched", "pixels = tf.constant")]],
    "outside_tape": [[_none("outside-tape", "prediction = weight")]],
    "gradient_penalty_lost": [[None], [_none("outside-tape", "slope = inner.gradient")] * 3],
    "stop_recording": [[None, _none("outside-tape", "scale = 1.0 / temperature")]],
    "stop_gradient": [[None, _none("stop-gradient", "goal = tf.stop_gradient")]],
    "numpy_leaves": [[_none("left-tensorflow", "sines = np.sin(angle.numpy())")]],
    "argmax": [[_none("not-differentiable", "choice = tf.argmax(scores)")]],
    "integer_variable": [[_none("integer", "count = tf.Variable(3)")]],
    "unused_head": [[None, None, _none("not-connected", "gradients = tape.gradient")]],
    "clipped_to_zero": [[Missing("zero", "saturated", "clipped = tf.clip_by_value")]],
    "norm_at_zero": [[Missing("nonfinite", "nonfinite", "loss = tf.norm(residual)")]],
    "mlp_step": [[None] * 4],
    "training_loop": [[None, None]] * 5,
    "compiled_function": [[None, None]],
    "gradient_penalty": [[None], [None] * 3],
}
