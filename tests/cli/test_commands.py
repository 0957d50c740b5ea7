"""The command line as a user runs it: statuses, JSON, and errors of one line."""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tapeviz.cli import main
from tapeviz.cli.inputs import Inputs
from tapeviz.export.writing import WRITERS
from tapeviz.kernel import KernelPool
from tapeviz.recording.kept import KeptRecording
from tapeviz.trace.stored.file import load
from tests.waiting import PATIENCE

FLOWS = """\
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
print("the gradient is", tape.gradient(y, x).numpy())
"""
RECORDINGS = Path(__file__).parents[1] / "recordings"
CUT_TAPE = RECORDINGS / "slice_assign.tape"
CUT = FLOWS.replace("y = x * x", "y = tf.stop_gradient(x)").replace(".numpy()", "")
RAISES = FLOWS + "raise KeyError('late')\n"
LEAVES = FLOWS + "import sys\nsys.exit(4)\n"
LOOP = """\
w = tf.Variable(1.1)
@tf.function
def f(x):
    for _ in tf.range(3):
        x = tf.tanh(x * w)
    return x
with tf.GradientTape() as tape:
    y = f(tf.constant(0.3))
tape.gradient(y, w)
"""


@pytest.fixture
def shared_kernels(kernels: KernelPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line takes the kernels of all tests: its own load TensorFlow at each call."""
    monkeypatch.setattr(Inputs, "_kernels", lambda self: kernels)
    monkeypatch.setattr(Inputs, "close", lambda self: None)


def _file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.usefixtures("shared_kernels")
def test_several_files_give_a_line_each_and_the_worst_status(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = {"flows.py": FLOWS, "cut.py": CUT, "raises.py": RAISES, "leaves.py": LEAVES}
    files = [_file(tmp_path, name, text) for name, text in texts.items()]
    missing = str(tmp_path / "missing.py")
    assert main(["explain", "--json", *files, missing]) == 3
    out, err = capfd.readouterr()
    flows, cut, raises, leaves, gone = map(json.loads, out.splitlines())
    assert [printed["file"] for printed in (flows, cut, raises, leaves, gone)] == [*files, missing]
    assert flows["error"] is None
    (result,) = flows["calls"][0]["results"]
    assert (result["source"], result["status"], result["value"]) == ("x", "flows", 6.0)
    (result,) = cut["calls"][0]["results"]
    assert (result["status"], result["value"]) == ("none", None)
    assert (result["cause"]["kind"], result["cause"]["line"]) == ("stop-gradient", 3)
    assert raises["error"]["type"] == "KeyError"
    assert raises["error"]["line"] == 5
    assert raises["calls"][0]["results"][0]["value"] == 6.0
    assert (leaves["error"]["type"], leaves["error"]["message"]) == ("SystemExit", "4")
    assert "cannot read" in gone["error"]["message"]
    assert "the gradient is 6.0" in err


@pytest.mark.usefixtures("shared_kernels")
def test_a_recording_takes_the_place_of_its_snippet(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tape = str(tmp_path / "cut.tape")
    assert main(["record", _file(tmp_path, "cut.py", CUT), "-o", tape]) == 1
    assert main(["explain", tape]) == 1
    out, _ = capfd.readouterr()
    assert "∂y / ∂x: None" in out
    picture = tmp_path / "cut.json"
    assert main(["export", tape, "-o", str(picture)]) == 1
    drawn = json.loads(picture.read_text(encoding="utf-8"))
    assert {"source", "target"} <= {node["role"] for node in drawn["nodes"]}
    assert "cut" in {edge["state"] for edge in drawn["edges"]}
    assert main(["export", tape, "-o", str(picture), "--group", "line", "--fold", "line 9"]) == 3
    _, err = capfd.readouterr()
    assert "no group 'line 9'" in err


@pytest.mark.usefixtures("shared_kernels")
def test_all_output_is_passed_on_and_head_and_tail_are_kept(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    tape = tmp_path / "much.tape"
    much = (
        "import os\nos.write(1, b'\\xff no UTF-8\\n')\n"
        "for n in range(3):\n    print(str(n) * 700_000)\n"
    )
    assert main(["record", _file(tmp_path, "much.py", much), "-o", str(tape)]) == 0
    lines = [b"\xff no UTF-8\n", *(b"%d" % n * 700_000 + b"\n" for n in range(3))]
    assert capfdbinary.readouterr().out == b"".join(lines)
    kept = "".join(text for _, text in KeptRecording(load(tape)).wait().printed)
    assert kept.startswith("\ufffd no UTF-8\n" + "0" * 1_000)
    assert kept.endswith("characters left out\n")
    assert len(kept) < 100_000


@pytest.mark.usefixtures("shared_kernels")
def test_what_a_model_predicts_is_followed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = """\
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model.predict(tf.ones([3, 2]), verbose=0) ** 2)
tape.gradient(loss, model.trainable_variables)
"""
    assert main(["explain", "--json", _file(tmp_path, "a.py", text)]) == 1
    (call,) = json.loads(capfd.readouterr().out)["calls"]
    causes = [result["cause"] for result in call["results"]]
    assert [(cause["kind"], cause["line"]) for cause in causes] == [("left-tensorflow", 4)] * 2


@pytest.mark.usefixtures("shared_kernels")
def test_the_steps_inside_of_a_compiled_function_are_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tape, page = str(tmp_path / "loop.tape"), tmp_path / "loop.html"
    assert main(["record", _file(tmp_path, "loop.py", LOOP), "-o", tape, "--inside"]) == 0
    assert main(["export", tape, "-o", str(page), "--inside"]) == 0
    assert page.read_text(encoding="utf-8").count("Tanh") > 3
    assert "--inside" not in capfd.readouterr().err
    bare = str(RECORDINGS / "compiled_function.tape")
    assert main(["export", bare, "-o", str(page), "--inside"]) == 0
    assert "the recording does not have the steps inside" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["explain"], "required"),
        (["--timeout", "3", "explain", "x.py"], "the verb comes first: tapeviz explain"),
        (["explian", "x.py"], "there is no verb or file 'explian': did you mean explain?"),
        (["help"], "there is no verb or file 'help' (see tapeviz --help)"),
        (["explain", "--roud", "2", "x.py"], "--roud (see tapeviz explain --help)"),
        (["explain", "nowhere.py"], "cannot read nowhere.py"),
        (["explain", "--timeout", "-1", "x.py"], "above 0"),
        (["explain", "--kernel", "no such", __file__], "no kernel named"),
        (["explain", "--python", shutil.which("echo"), __file__], "does not run as a Python"),
        (["export", "x.py", "-o", "x.bmp"], "cannot write .bmp"),
        (["export", "x.py", "-o", "x.png", "--layout", "mesh"], "no layout 'mesh'; there are lay"),
        (["export", "x.py", "-o", "x.png", "--group", "mesh"], "no grouping 'mesh'; there are la"),
        (["record", __file__, "-o", __file__], "a recording is a .tape file"),
        (["record", "x.py", "-o", "no folder/x.tape"], "the folder does not exist"),
        (["export", "x.py", "-o", "no folder/x.png"], "the folder does not exist"),
        (["diff", "x.py", "y.py", "-o", "no folder/x.png"], "the folder does not exist"),
        (["examples", "slice_asign"], "did you mean slice_assign"),
    ],
)
def test_errors_are_one_line_and_status_3(
    words: list[str], says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(words)
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    out, err = capfd.readouterr()
    assert status == 3
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


def test_a_file_that_is_not_there_is_no_misspelled_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapeviz.cli.open.run", lambda options: len(options.files))
    assert main(["record.tape", "example.py"]) == 2


@pytest.mark.parametrize("module", ["argparse", "numpy._core", "tapeviz.recording.live"])
def test_an_interruption_while_modules_are_imported_is_a_line(module: str) -> None:
    code = f"""if True:
        import importlib.abc, os, signal, sys
        class Interrupts(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == {module!r}:
                    os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, Interrupts())
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's "&" ignores it
        from tapeviz.__main__ import main
        sys.argv = ["tapeviz", "explain", "a.py"]
        sys.exit(main())
    """
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (3, "tapeviz: interrupted\n")


def test_the_help_names_every_format(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    words = capfd.readouterr().out.replace(",", " ").split()
    assert set(WRITERS) <= set(words)


def test_a_bug_of_ours_is_a_line_and_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("tapeviz.files.examples.examples", lambda: 1 / 0)
    assert main(["examples"]) == 3
    _, err = capfd.readouterr()
    assert err.count("\n") == 1
    assert "bug of tapeviz: ZeroDivisionError" in err
    logs = list(tmp_path.rglob("tapeviz.log"))
    if logs:  # where the platform keeps state elsewhere there is nothing to read here
        assert "Traceback" in logs[0].read_text(encoding="utf-8")


@pytest.mark.usefixtures("shared_kernels")
def test_words_for_runs_that_do_not_come_to_their_end(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asks = _file(tmp_path, "asks.py", "Some page\n\nabout tapes\n>>> input('how many? ')\n")
    leaves = _file(tmp_path, "leaves.py", "import sys\nsys.exit(4)\n")
    assert main(["explain", asks, leaves]) == 2
    out, _ = capfd.readouterr()
    assert "lines 1, 3: not Python" in out
    assert "how many? \n" in out
    assert "the snippet left early: sys.exit(4)" in out
    picture = tmp_path / "empty.svg"
    assert main(["export", asks, "-o", str(picture)]) == 2
    out, err = capfd.readouterr()
    assert "line 4: EOFError" in err
    assert "the picture is empty" in err


@pytest.mark.usefixtures("shared_kernels")
def test_input_comes_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = "import sys; first = input('a? ')\nprint(first + '!')\n"
    lines += "print([input(), 2], repr(sys.stdin.read()))\ninput()\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo\nthree\nno end"))
    assert main(["explain", _file(tmp_path, "asks.py", lines)]) == 2
    out, _ = capfd.readouterr()
    assert out.startswith("a? one!\n['two', 2] 'three\\nno end'\n")
    assert "EOFError" in out
    assert "line 4" in out


def test_output_that_nobody_reads_ends_the_run(tmp_path: Path) -> None:
    endless = _file(tmp_path, "endless.py", "while True:\n    print('again')\n")
    command = f"{shlex.quote(sys.executable)} -m tapeviz explain {shlex.quote(endless)} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "again\n"
    assert "Traceback" not in done.stderr
    assert "bug of tapeviz" not in done.stderr


@pytest.mark.parametrize(
    ("redirection", "first"), [("", r"\u2202mean / \u2202patch: None"), (">&-", "")]
)
def test_standard_output_may_be_ascii_or_closed(redirection: str, first: str) -> None:
    words = shlex.join([sys.executable, "-m", "tapeviz", "explain", str(CUT_TAPE)])
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        f"{words} {redirection}", shell=True, capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(first)
    assert bool(done.stdout) == bool(first)


SUMMED = """\
x = tf.Variable([1.0, 2.0])
w = tf.Variable(3.0)
unused = tf.Variable(1.0)
with tf.GradientTape(persistent=True) as tape:
    area = x[0] * w
    edge = 2.0 * x
tape.gradient([area, edge], [x, w, unused], unconnected_gradients="zero")
tape.gradient(edge, x)
"""


@pytest.mark.usefixtures("shared_kernels")
def test_sums_over_targets_are_told_apart(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = _file(tmp_path, "summed.py", SUMMED)
    main(["explain", "--no-fixes", "--json", file])
    listed, single = json.loads(capfd.readouterr().out)["calls"]
    assert listed["results"][0]["value"] == [5.0, 2.0]
    area, edge = listed["shares"]
    assert (area["target"], area["values"]) == ("area", [[3.0, 0.0], 1.0, None])
    assert (edge["target"], edge["values"]) == ("edge", [[2.0, 2.0], None, None])
    assert edge["jacobian"] == [[[2.0, 0.0], [0.0, 2.0]], None, None]
    (only,) = single["shares"]
    assert only["jacobian"][0] == [[2.0, 0.0], [0.0, 2.0]]
    main(["explain", "--no-fixes", file])
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert ["area", "[3.", "0.]", "1.", "None"] in lines
    assert ["sum", "[5.", "2.]", "1.", "0."] in lines
    assert ["edge[1]", "[0.", "2.]"] in lines


@pytest.mark.usefixtures("shared_kernels")
def test_diff_tells_what_differs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flows, cut = _file(tmp_path, "flows.py", FLOWS), _file(tmp_path, "cut.py", CUT)
    tape, picture = str(tmp_path / "cut.tape"), tmp_path / "both.svg"
    assert main(["record", cut, "-o", tape]) == 1
    capfd.readouterr()
    assert main(["diff", tape, flows, "--json", "-o", str(picture)]) == 1
    compared = json.loads(capfd.readouterr().out)
    (pair,) = compared["gradients"]
    assert (pair["outcome"], compared["same"]) == ("differs", False)
    assert (pair["before"]["status"], pair["after"]["value"]) == ("none", 6.0)
    assert [op["type"] for op in compared["ops"]["added"]] == ["Mul"]
    assert "only after" in picture.read_text(encoding="utf-8")
    assert main(["diff", tape, tape]) == 0
    out = capfd.readouterr().out
    assert "∂y / ∂x: the same" in out
    assert "The same ops ran." in out
    assert main(["diff", tape, _file(tmp_path, "raises.py", RAISES)]) == 2
    assert "KeyError" in capfd.readouterr().out
