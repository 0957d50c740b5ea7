"""Functions of the recorder, called where the tests run.

TensorFlow is imported for them when the first of these tests runs, and in that process alone: a
module that imports it would have every process of pytest import it.
"""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="module")
def tf() -> Any:
    import tensorflow

    return tensorflow


@pytest.fixture(scope="module")
def private() -> ModuleType:
    from tapeviz.recorder import private

    return private


@pytest.fixture(scope="module")
def program() -> ModuleType:
    from tapeviz.recorder import program

    return program


@pytest.fixture(scope="module")
def measuring() -> ModuleType:
    from tapeviz.recorder import measuring

    return measuring


NUMBERS = [
    *("bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64", "bfloat16"),
    *("complex64", "complex128"),
]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_a_tensor_is_the_one_that_tf_constant_makes(
    dtype: str, shape: tuple[int, ...], private: ModuleType, tf: Any
) -> None:
    kind = tf.dtypes.as_dtype(dtype)
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind.as_numpy_dtype)
    known = tf.constant(array, kind)
    number, raw = kind.as_datatype_enum, array.tobytes()
    for made in (private.tensor_from(raw, number, shape), private.tensor_of_array(array, number)):
        assert (made.dtype, made.shape, made.device) == (known.dtype, known.shape, known.device)
        assert made.numpy().tobytes() == raw


def test_a_tensor_does_not_change_with_the_array_that_it_was_made_from(
    private: ModuleType, tf: Any
) -> None:
    array = np.zeros(1024, np.float32)
    made = private.tensor_of_array(array, tf.float32.as_datatype_enum)
    array += 1.0
    assert not made.numpy().any()


def test_texts_make_a_tensor(private: ModuleType, tf: Any) -> None:
    made = private.tensor_of_array(np.array([b"a", b"bc"], object), tf.string.as_datatype_enum)
    assert made.numpy().tolist() == [b"a", b"bc"]


def test_only_reports_outside_of_functions_have_a_number(program: ModuleType) -> None:
    """What stands in a function has a site for each caller; a number stands for one site."""
    text = """
def f(p):
    q = p
    return q
class C:
    k = f(1)
for i in range(2):
    c, (d, e) = i, (2, 3)
g = [h := f(x) for x in (1,)]
"""
    found: dict[str, set[int]] = {}

    def bind(place: int, name: str, value: object) -> object:
        found.setdefault(name, set()).add(place)
        return value

    for code in program.compile_snippet(text, "snippet.py", print):
        exec(code, {"__tapeviz_bind__": bind, "__name__": "__main__"})
    assert {name for name, places in found.items() if places == {0}} == {"p", "q", "k", "h"}
    numbered = [found[name] for name in "icdeg"]
    assert len(set.union(*numbered)) == len(numbered)


@pytest.mark.parametrize(
    ("hook", "expected"), [(None, "TypeError: "), (lambda *_: 1 / 0, "ZeroDiv")]
)
def test_a_hook_for_errors_that_fails_is_told_as_python_does(
    hook: object,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    program: ModuleType,
) -> None:
    monkeypatch.setattr(sys, "excepthook", hook)
    program._call_hook(ValueError("x"))
    first, *_, last = capsys.readouterr().err.split("\n\n")
    assert first.startswith("Error in sys.excepthook:\n")
    assert first.splitlines()[-1].startswith(expected)
    assert last == "Original exception was:\nValueError: x\n"


def test_an_error_that_came_from_thousands_is_told(program: ModuleType) -> None:
    error = None
    for number in range(3000):
        following = ValueError(str(number))
        following.__cause__, error = error, following
    assert error is not None
    raised = program.raised(error, "snippet.py")
    assert raised["message"] == "2999"
    assert "ValueError: 0\n" in raised["traceback"]


def test_an_error_whose_words_end_the_program_is_told(program: ModuleType) -> None:
    class Leaving(Exception):
        def __str__(self) -> str:
            raise SystemExit(5)

    assert program.raised(Leaving(), "snippet.py")["message"] == "<exception str() failed>"


def test_of_an_error_of_many_letters_both_ends_are_told(program: ModuleType) -> None:
    raised = program.raised(ValueError("a" * 3_000_000 + "z"), "snippet.py")
    assert max(len(raised["message"]), len(raised["traceback"])) < 1_000_100
    assert raised["message"].startswith("a")
    assert raised["traceback"].endswith("z\n")
    assert "2,000,001 characters left out" in raised["message"]


HOLDING = """
class Rows(list):
    def __len__(self): raise SystemExit("called")
class Proxy:
    __dict__ = property(lambda self: self.called)
class Net:
    rest = property(lambda self: self.called)
    def __init__(self): self.rows, self.scale = Rows([1, 2]), 0.5
    def take(self, i, batch):
        return self.rows[i] * self.scale * self.rest + batch["label"] + limit + proxy.rows
limit, proxy = np.zeros((2, 3)), Proxy()
Net().take(2, {"x": 1, "y": None})
"""


def _raised(program: ModuleType, text: str, names: dict[str, Any]) -> dict[str, Any]:
    """The ``error`` event of a text that ends with an IndexError."""
    linecache.cache["snippet.py"] = (len(text), None, text.splitlines(keepends=True), "snippet.py")
    with pytest.raises(IndexError) as raising:
        exec(compile(text, "snippet.py", "exec"), names)
    found: dict[str, Any] = program.raised(raising.value, "snippet.py")
    del linecache.cache["snippet.py"]
    return found


def test_what_the_names_of_the_frame_that_raised_meant(program: ModuleType) -> None:
    names = {"np": np, "__tapeviz_bind__": print}
    held = {each.pop("name"): each for each in _raised(program, HOLDING, names)["held"]}
    assert "__tapeviz_bind__" not in held
    assert {name: each for name, each in held.items() if "takes" not in each} == {
        "self": {"type": "Net", "keys": ["rows", "scale"]},
        "self.rows": {"type": "Rows", "size": 2, "kinds": ["int"]},
        "self.scale": {"type": "float", "value": "0.5"},
        "i": {"type": "int", "value": "2"},
        "batch": {"type": "dict", "size": 2, "keys": ["x", "y"], "kinds": ["int", "NoneType"]},
        "limit": {"type": "ndarray", "shape": [2, 3], "dtype": "float64", "tensor": 0},
        "proxy": {"type": "Proxy", "keys": []},
    }


def test_what_is_on_the_line_that_raised_has_more_weight_than_other_names(
    program: ModuleType,
) -> None:
    many = "".join(f"n{number} = {number}\n" for number in range(400))
    raised = _raised(program, f"{many}rows, parts = [1], {{3: [1]}}\nrows[2] + parts[3]", {})
    assert len(raised["held"]) == 300
    assert {"rows", "parts", "parts[3]"} <= {each["name"] for each in raised["held"]}
    assert raised["span"] == ((402, 0, 402, 7) if sys.version_info >= (3, 11) else (402, *[-1] * 3))


def test_an_import_of_a_page_that_fails_keeps_no_other_from_the_page(program: ModuleType) -> None:
    page = "import json\nimport not_installed\nimport math\nx = math.pi\ny = json\n\nz = x\n"
    space: dict[str, object] = {"__tapeviz_bind__": lambda *bound: None}
    failed = []
    for code in program.compile_snippet(page, "page.py", print, starts=(1, 7)):
        try:
            exec(code, space)
        except ModuleNotFoundError as error:
            failed.append(error.name)
    assert failed == ["not_installed"]
    assert {"json", "math", "x", "y", "z"} <= space.keys()
    assert len(program.compile_snippet(page, "page.py", print)) == 1


@pytest.mark.parametrize(
    ("equation", "is_product"),
    [
        ("ab,bc->ac", True),
        ("abc,cde->abde", True),
        ("...ab, ...cb -> ...ac", True),
        ("a,b->ab", True),
        ("ab,bc->c", False),  # a is summed in one input alone: that may be much larger
        ("aa,ab->b", False),
        ("ab->ba", False),
        ("ab,bc,cd->ad", False),
        ("ab,bc", False),
    ],
)
def test_an_einsum_that_is_a_product_of_matrices(
    equation: str, measuring: ModuleType, *, is_product: bool
) -> None:
    """Then its result has at most the product of the norms, which holds on through many."""
    assert measuring._is_product(equation) == is_product
    if is_product:
        random = np.random.default_rng(1)
        terms = equation.replace(" ", "").split("->")[0].split(",")
        arrays = [random.normal(size=[3] * (len(term) - 2 * term.count("..."))) for term in terms]
        largest = np.prod([np.linalg.norm(each) for each in arrays])
        assert np.linalg.norm(np.einsum(equation, *arrays)) <= largest
