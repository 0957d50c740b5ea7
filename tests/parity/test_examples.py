"""Each example of the gallery comes to the numbers its text speaks of with TensorFlow alone, and
runs the same with tapeviz."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tapeviz.files.examples import Example, example, examples

from ..sampling import sampled
from .comparing import check_same
from .plain_runs import PlainRuns
from .recombining import check_recombines
from .recorded_runs import recorded

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

Ended = dict[str, dict[str, Any]]

# What a name must hold at the end: None, or numbers as float32 (processors differ in the last bit).
EXPECTED: dict[str, dict[str, Any]] = {
    "slice_assign": {"d_patch": None},
    "slice_assign_far_side": {"d_image": [[1, 2, 52], [1, 2, 52]]},
    "slice_assign_repaired": {"d_patch": [[1, 2], [1, 2]]},
    "assign_combination": {"d_near": None, "d_far": None},
    "assign_combination_watched": {"d_far": None, "d_blend": 6.0},
    "assign_combination_repaired": {"d_near": 6.0, "d_far": 6.0},
    "interpolated_lists": {"through_assign": None, "without_assign": 5.0933886},
    "chain_by_output_gradients": {"inner": 2.0, "d_far": 20.0},
    "chain_for_lists": {"d_mix": 5.0932484},
    "chain_by_jacobian": {"by_hand": 0.7263656, "without_assign": 0.7263656},
    "simple_tape": {"d_side": 6.0},
    "nested_tapes_two_variables": {"d_length": 4.0, "d_length_speed": 4.0},
    "nested_tapes_one_variable": {"slope": 6.0, "curvature": 2.0},
    "two_tapes_at_once": {"d_player": 6.0, "d_rival": 5.0},
    "persistent_tape": {"d_player": 6.0, "d_rival": 5.0},
    "list_of_targets": {"both": [7, 5], "of_area": [5, 3], "of_edge": [2, 2]},
    "surrogate_gradient_sum": {"rounded": [0, 2, -2], "d_x": [0, 4, -4]},
    "surrogate_gradient_product": {"sign": [1, 1, -1]},
    "surrogate_gradient_graph_mode": {
        "rounded_value": [0, 2, -1],
        "d_rounded_value": [0, 4, -2],
        "sign_value": [1, 1, -1],
    },
    "custom_gradient": {},
    "custom_gradient_graph_mode": {},
    "gradient_penalty_lost": {"gradients": [None, None, None]},
    "unwatched_constant": {"d_pixels": None},
    "outside_tape": {"d_weight": None},
    "stop_recording": {"d_temperature": None},
    "stop_gradient": {"d_teacher": None},
    "numpy_leaves": {"d_angle": None},
    "argmax": {"d_scores": None, "reward": 5.0},
    "integer_variable": {"d_count": None},
    "new_variable": {"d_seed": None, "d_state": [6, 12]},
    "inner_step_assigned": {"d_rate": None},
    "clipped_to_zero": {"d_activation": [0, 0, 0]},
}
OTHERS = {
    "compiled_function": ["d_weights"],
    "custom_gradient": ["d_matrix"],
    "custom_gradient_graph_mode": ["d_matrix_value"],
    "gradient_penalty": ["gradients"],
    "inner_step_assigned": ["d_weight"],
    "mlp_step": ["loss", "loss_after"],
    "norm_at_zero": ["d_residual"],
    "per_sample_loss": ["summed", "averaged"],
    "stop_gradient": ["d_student"],
    "stop_recording": ["d_logits"],
    "surrogate_gradient_graph_mode": ["d_sign_value"],
    "surrogate_gradient_product": ["d_x"],
    "training_loop": ["losses"],
    "unused_head": ["gradients"],
}
"""Names of which something else is known."""


@pytest.fixture(scope="module")
def ended(plain: PlainRuns) -> Ended:
    """The values under the names of each example in the end. All run in one process; those that
    turn eager mode off come last."""
    names = sorted({*EXPECTED, *OTHERS}, key=lambda name: (name.endswith("graph_mode"), name))
    texts = []
    for name in names:
        wanted = [*EXPECTED.get(name, ()), *OTHERS.get(name, ())]
        kept = ", ".join(f"{each!r}: {each}" for each in wanted)
        texts.append(f"{example(name).text}\nended = {{{kept}}}\n")
    return dict(zip(names, plain.values(texts, "ended"), strict=True))


@pytest.mark.parametrize("each", sampled(examples(), 4), ids=lambda each: each.name)
def test_example(each: Example, plain: PlainRuns, recorder: Recorder) -> None:
    with recorded(recorder, each.text) as run:
        check_same(plain.run(each.text), run)
        check_recombines(run)


@pytest.mark.parametrize("name", EXPECTED)
def test_numbers(name: str, ended: Ended) -> None:
    for variable, expected in EXPECTED[name].items():
        got = ended[name][variable]
        if expected is None or expected == [None] * 3:
            assert got == expected
        else:
            np.testing.assert_array_max_ulp(np.float32(got), np.float32(expected), maxulp=2)


def test_penalty_reaches_the_critic(ended: Ended) -> None:
    gradients = ended["gradient_penalty"]["gradients"]
    assert len(gradients) == 3
    assert all(np.any(np.asarray(gradient)) for gradient in gradients)


def test_mean_is_half_the_sum(ended: Ended) -> None:
    found = ended["per_sample_loss"]
    for of_sum, of_mean in zip(found["summed"], found["averaged"], strict=True):
        np.testing.assert_allclose(0.5 * np.array(of_sum), of_mean, rtol=1e-6)


def test_product_form_has_the_slope_of_tanh(ended: Ended) -> None:
    x = np.array([0.5, 1.5, -1.0])
    slope = (1 - np.tanh(x) ** 2) / np.abs(np.tanh(x))
    sums = ended["surrogate_gradient_product"]["d_x"]
    np.testing.assert_allclose(sums, slope * [1, 2, 3], rtol=1e-5)
    np.testing.assert_allclose(
        ended["surrogate_gradient_graph_mode"]["d_sign_value"], slope, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("name", "result"),
    [("custom_gradient", "d_matrix"), ("custom_gradient_graph_mode", "d_matrix_value")],
)
def test_eigenvalue_has_its_numeric_derivative(name: str, result: str, ended: Ended) -> None:
    def loss(matrix: np.ndarray) -> float:
        return float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[-1] ** 2)

    start, step = np.array([[2.0, 1.0], [1.0, 2.0]]), 1e-6
    numeric = [
        [(loss(start + step * unit) - loss(start - step * unit)) / (2 * step) for unit in row]
        for row in np.eye(4).reshape(2, 2, 2, 2)
    ]
    np.testing.assert_allclose(ended[name][result], numeric, rtol=1e-5)


def test_network_learns(ended: Ended) -> None:
    step = ended["mlp_step"]
    assert step["loss_after"] < step["loss"]
    assert np.all(np.diff(ended["training_loop"]["losses"]) < 0)


def test_some_gradients_stay(ended: Ended) -> None:
    assert np.all(ended["stop_gradient"]["d_student"])
    assert np.all(ended["stop_recording"]["d_logits"])
    assert ended["inner_step_assigned"]["d_weight"] is not None
    assert [g is None for g in ended["unused_head"]["gradients"]] == [False, False, True]
    assert all(math.isnan(each) for each in ended["norm_at_zero"]["d_residual"])
    assert np.shape(ended["compiled_function"]["d_weights"]) == (2, 2)
