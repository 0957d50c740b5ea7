"""Pages, sessions and notebooks: what is code stays code, what is not becomes a comment."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tapeviz.repair import missing_imports, repair


def code_of(text: str) -> str:
    """The statements that are left after the repair, one a line."""
    found = repair(text)
    assert found.error is None, found.error
    return ast.unparse(ast.parse(found.text))


def whats(text: str) -> dict[int, str]:
    found = repair(text)
    assert found.error is None, found.error
    return {repair.line: repair.what for repair in found.repairs}


SESSION = """\
>>> import tensorflow as tf
>>> v = tf.Variable(4.0)
>>> with tf.GradientTape() as tape:
...     w = v * v
...
>>> tape.gradient(w, v)
<tf.Tensor: shape=(), dtype=float32, numpy=8.0>
>>> w.numpy()
16.0
>>> [w, w]
[<tf.Tensor: shape=(), dtype=float32, numpy=16.0>,
 <tf.Tensor: shape=(), dtype=float32, numpy=16.0>]
>>> tape.gradient(w, v)
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>

RuntimeError: A non-persistent GradientTape can only be used once
u = v + 1
"""


def test_a_session_keeps_what_was_typed_and_comments_the_answers() -> None:
    assert code_of(SESSION).splitlines() == [
        "import tensorflow as tf",
        "v = tf.Variable(4.0)",
        "with tf.GradientTape() as tape:",
        "    w = v * v",
        "tape.gradient(w, v)",
        "w.numpy()",
        "[w, w]",
        "tape.gradient(w, v)",
        "u = v + 1",
    ]
    repairs = whats(SESSION)
    assert repairs[1] == "removed the prompt >>>"
    assert repairs[4] == "removed the prompt ..."
    assert repairs[7] == repairs[9] == repairs[11] == "output: kept as a comment"
    assert 18 not in repairs


def test_notebook_cells_with_prompts_of_their_own() -> None:
    text = """\
In [1]:
%matplotlib inline
!pip install -q tensorflow
v = tf.Variable(4.0)

In [2]: w = v * v
   ...: w
Out[2]: <tf.Tensor: shape=(), dtype=float32, numpy=16.0>

In [3]: print(w)
tf.Tensor(16.0, shape=(), dtype=float32)
"""
    assert code_of(text).splitlines() == ["v = tf.Variable(4.0)", "w = v * v", "w", "print(w)"]
    assert whats(text)[2] == "switched off the notebook command %matplotlib inline"


def test_a_prompt_that_parses_by_accident_is_a_prompt() -> None:
    assert code_of("In [4]: tape.gradient(y, x)") == "tape.gradient(y, x)"


def test_printed_values_between_the_code() -> None:
    text = """\
a = tf.eye(2)
print(a)
tf.Tensor(
[[1. 0.]
 [0. 1.]], shape=(2, 2), dtype=float32)
print(a.numpy())
[[1. 0.]
 [0. 1.]]
model.fit(a, a)
Epoch 1/1
1/1 [==============================] - 0s 5ms/step - loss: 0.1
2024-05-01 09:00:00.1: I tensorflow/core/platform.cc:1] This binary is optimized
b = a + 1
ValueError: No gradients provided for any variable: ['w:0'].
"""
    assert code_of(text).splitlines() == [
        "a = tf.eye(2)",
        "print(a)",
        "print(a.numpy())",
        "model.fit(a, a)",
        "b = a + 1",
    ]


PAGE = """\
Tape inside a tape: how?
asked Jan 5 '21 at 10:00
I've read the guide (twice), and I don't understand it's rules.
So tape.gradient(y, x) gives me a wrong number, see below:

y = 2 ** 3
# my own remark
Extension:
- 说明
the slope is what i need
两个梯度
tape_two(这里)
注:结果
• It works in TF 1
https://example.com/a?b=c
but
print(y)
Any ideas?
"""


def test_sentences_in_any_script_become_comments() -> None:
    repairs = whats(PAGE)
    assert set(repairs) == {*range(1, 5), *range(8, 17), 18}
    assert set(repairs.values()) == {"not Python: kept as a comment"}
    assert code_of(PAGE).splitlines()[0] == "y = 2 ** 3"
    lines = repair(PAGE).text.split("\n")
    assert lines[1] == "#¶ asked Jan 5 '21 at 10:00"
    assert lines[5:7] == ["y = 2 ** 3", "# my own remark"]


def test_fences_of_other_languages_and_buttons() -> None:
    text = """\
Install it first:
```bash
pip install tensorflow
```
then
```python
x = tf.ones(3)
```
Copy
Run Code Online (Sandbox Code Playgroud)
"""
    assert code_of(text) == "x = tf.ones(3)"
    repairs = whats(text)
    assert repairs[3] == "not Python but bash: kept as a comment"
    assert repairs[6] == "removed the Markdown fence"
    assert repairs[10] == "removed the page's “Run Code Online (Sandbox Code Playgroud)”"


def test_a_button_word_that_is_a_name_stays() -> None:
    text = "output = f(\n  input\n)\noutput\ny = “a”\n"
    assert code_of(text).splitlines() == ["output = f(input)", "output", "y = 'a'"]


@pytest.mark.parametrize(
    ("scarred", "code"),
    [
        ("x = “it's”", "x = \"it's\""),
        ("x = “a \"b\" c”", "x = 'a \"b\" c'"),
        ("x = ‘it’s’", "x = 'it’s'"),
        ("x = \"mixed”", "x = 'mixed'"),
        ("f(“a”, 'b “c” d', “e”)", "f('a', 'b “c” d', 'e')"),
        ("x = “a”  # “remark”", "x = 'a'"),
        ("x = “””Doc “x”\n.”””", "x = 'Doc “x”\\n.'"),
        ("f（a，b）；y＝１＋２", "f(a, b)\ny = 1 + 2"),
        ("x = 3 – 2 × 4", "x = 3 - 2 * 4"),
        ("if x ≥ 2：\n    y = 1", "if x >= 2:\n    y = 1"),
        ("x = 1 \\   \n    + 2", "x = 1 + 2"),
        ("y = a &lt; 1 &amp; b\nf(&quot;a &lt; b&quot;)", "y = a < 1 & b\nf('a < b')"),
        ("x&nbsp;= &#39;a&#39;", "x = 'a'"),
        ("f(a &amp;lt; 1)", "f(a < 1)"),
        ("if x:\n\u3000\u3000y = 1", "if x:\n    y = 1"),
        ("x\u00a0= 'a\u00a0b'", "x = 'a\\xa0b'"),
        ("x = 1\0", "x = 1"),
        ("> x = 1\n> y = 2", "x = 1\ny = 2"),
        ("1import os\n2x = 1\n3if x:\n4    y = 2", "import os\nx = 1\nif x:\n    y = 2"),
        ("98 if x:\n99     y = 1\n100 z = 2", "if x:\n    y = 1\nz = 2"),
        ("98  if x:\n99      y = 1\n100 z = 2", "if x:\n    y = 1\nz = 2"),
        ("if x:\n\ty = 1\n        z = 2", "if x:\n    y = 1\n    z = 2"),
        ("if x:\n\ty = 1\n    z = 2", "if x:\n    y = 1\n    z = 2"),
    ],
)  # fmt: skip
def test_small_scars(scarred: str, code: str) -> None:
    assert code_of(scarred) == ast.unparse(ast.parse(code))


SLIPS = {
    "between two levels": (
        """\
        with tf.GradientTape() as g:
            g.watch(x)
          y = x * x
        dy = g.gradient(y, x)
        """,
        2,
    ),
    "one space more": (
        """\
        with tf.GradientTape() as g:
            g.watch(x)
             y = x * x
        dy = g.gradient(y, x)
        """,
        2,
    ),
    "one space less in the first line": (
        """\
        with tf.GradientTape() as g:
           g.watch(x)
            y = x * x
            z = y
        dy = g.gradient(y, x)
        """,
        3,
    ),
    "one line flush left": (
        """\
        with tf.GradientTape() as g:
            g.watch(x)
        y = x * x
            z = y
        dy = g.gradient(y, x)
        """,
        3,
    ),
    "the gradient between two levels": (
        """\
        with tf.GradientTape() as g:
            g.watch(x)
            y = x * x
          dy = g.gradient(y, x)
        """,
        2,
    ),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_line_that_slipped_goes_to_its_level(name: str) -> None:
    text, size = SLIPS[name]
    tree = ast.parse(repair(dedent(text)).text)
    assert isinstance(tree.body[0], ast.With)
    assert len(tree.body[0].body) == size
    assert len(tree.body) == 2


LOST = {
    "a print before the gradient stays in": (
        "with tf.GradientTape() as g:\ny = x\nprint(y)\nd = g.gradient(y, x)\nprint(d)\n",
        "with tf.GradientTape() as g:\n    y = x\n    print(y)\nd = g.gradient(y, x)\nprint(d)\n",
    ),
    "a gradient of a gradient by one tape": (
        "with tf.GradientTape() as g:\ny = x\nd = g.gradient(y, x)\ne = g.gradient(d, x)\n",
        "with tf.GradientTape() as g:\n    y = x\n    d = g.gradient(y, x)\ne = g.gradient(d, x)\n",
    ),
    "two tapes that do not need each other": (
        "with tf.GradientTape() as a:\nwith tf.GradientTape() as b:\nz = x * y\n"
        "dx = b.gradient(z, x)\ndy = a.gradient(z, y)\n",
        "with tf.GradientTape() as a:\n    with tf.GradientTape() as b:\n        z = x * y\n"
        "dx = b.gradient(z, x)\ndy = a.gradient(z, y)\n",
    ),
    "a sentence ends every body": (
        "for i in range(3):\ns = s + i\nThis is what I want to see next.\nprint(s)\n",
        "for i in range(3):\n    s = s + i\n\nprint(s)\n",
    ),
    "a tape without a gradient ends at the blank line": (
        "with tf.GradientTape() as g:\ny = x\n\nz = 2\n",
        "with tf.GradientTape() as g:\n    y = x\n\nz = 2\n",
    ),
    "else goes with its if": (
        "for i in r:\nif i:\ns = 1\nelse:\ns = 2\n\nprint(s)\n",
        "for i in r:\n    if i:\n        s = 1\n    else:\n        s = 2\nprint(s)\n",
    ),
    "try": (
        "try:\nd = g.gradient(y, x)\nexcept RuntimeError:\nd = None\n\nprint(d)\n",
        "try:\n    d = g.gradient(y, x)\nexcept RuntimeError:\n    d = None\nprint(d)\n",
    ),
    "match": (
        "match n:\ncase 1:\ny = 1\ncase _:\ny = 2\n\nprint(y)\n",
        "match n:\n    case 1:\n        y = 1\n    case _:\n        y = 2\nprint(y)\n",
    ),
    "a whole body inside a lost one": (
        "with tf.GradientTape() as g:\nfor i in r:\n    y = y * x\nd = g.gradient(y, x)\n",
        "with tf.GradientTape() as g:\n    for i in r:\n        y = y * x\nd = g.gradient(y, x)\n",
    ),
    "main": (
        "def main():\nx = 1\nprint(x)\n\nif __name__ == '__main__':\nmain()\n",
        "def main():\n    x = 1\n    print(x)\nif __name__ == '__main__':\n    main()\n",
    ),
    "many lines of one statement": (
        "with tf.GradientTape() as g:\ny = f(\nx,\n)\nd = g.gradient(y, x)\n",
        "with tf.GradientTape() as g:\n    y = f(x)\nd = g.gradient(y, x)\n",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_body_ends_where_its_meaning_ends(name: str) -> None:
    scarred, code = LOST[name]
    assert code_of(scarred) == ast.unparse(ast.parse(code))


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("x = tf.ones(3)", {"tf"}),
        ("import tensorflow as tf\nx = tf.ones(3)", set()),
        ("def f():\n    return np.ones(3) + tf.ones(3)", {"np", "tf"}),
        ("def f(tf):\n    return tf", set()),
        ("def f(tf):\n    return tf\ntf.ones(3)", {"tf"}),
        ("from tensorflow import keras\nkeras.Input(3)", set()),
        ("x = [keras.Input(n) for n in range(3)]", {"keras"}),
        ("class A(keras.Model):\n    tf = 1", {"keras"}),
        ("def f():\n    global np\n    import numpy as np\nnp.ones(3)", set()),
        ("x.tf.np(keras=1)", set()),
        ("x = tf.ones(3)\nimport tensorflow as tf", {"tf"}),
        ("def f():\n    return tf.ones(3)\nimport tensorflow as tf", set()),
        ("tf = 1 +", set()),
    ],
)
def test_missing_imports(text: str, missing: set[str]) -> None:
    assert missing_imports(text) == missing


def test_html_around_code_goes_and_what_stands_outside_of_it_is_prose() -> None:
    page = """<p>I have this:</p>
<pre class="lang-py"><code><span class="k">import</span> tensorflow as tf
x = tf.Variable(1.0)
</code></pre>
<p>and then</p>
<pre><code>with tf.GradientTape() as t:
    y = x * 2 if 1 &lt; 2 else "&lt;b&gt;"
print(t.gradient(y, x))</code></pre>"""
    code = dedent(
        """\
        import tensorflow as tf
        x = tf.Variable(1.0)
        with tf.GradientTape() as t:
            y = x * 2 if 1 < 2 else "&lt;b&gt;"
        print(t.gradient(y, x))
        """
    )
    assert code_of(page) == ast.unparse(ast.parse(code))
    assert repair('tag = "<pre>"\n').text == 'tag = "<pre>"\n'


def test_what_is_said_of_a_formula_is_prose_unless_code_may_need_it() -> None:
    code, end = "x = tf.Variable(1.0)\ny = x * x\n", "\nprint(y)\n"
    assert code_of(f"{code}H = diag(2 - sin(1), 2) is what I expect, as{end}") == f"{code}print(y)"
    for line in ("y = half(x) here we halve it", "y = tf.sin(x) then we print it"):
        problem = repair(f"def half(x)\n    return x / 2\n{code}{line}{end}").error
        assert problem is not None


def test_a_tensor_shown_without_its_angle_brackets_is_output() -> None:
    shown = "tf.Tensor: shape=(3,), dtype=float32, numpy=array([1., 1., 0.], dtype=float32)"
    assert code_of(f"g = tape.gradient(y, x)\ng\n{shown}\n") == "g = tape.gradient(y, x)\ng"


@pytest.mark.parametrize(
    "shown",
    [
        "TensorShape([7, 10])",
        "[TensorShape([5, 10]), TensorShape([10])]",
        "array([[ 1., -2.]], dtype=float32)",
        "{'w': array(1.), 'b': array([nan], dtype=object)}".replace("nan", "0."),
        "Dog(name='Rex', age=3)",
        "Loss : tf.Tensor(1.0, shape=(), dtype=float32)",
    ],
)
def test_a_shown_object_that_parses_is_output(shown: str) -> None:
    """It would raise a NameError; also in a text that has nothing else to be repaired."""
    code = "import numpy as np\nx = np.ones(2)\nx"
    assert code_of(f"{code}\n{shown}\ny = x * 2\n") == f"{code}\ny = x * 2"


@pytest.mark.parametrize(
    "text",
    [
        "from numpy import array\narray([1.0])\n",
        "from shapes import *\nTensorShape([7])\n",
        "class Dog:\n    pass\nDog()\n",
        "train(10)\n",
        "ValueError('x')\n",
        "Model(layers)\n",
    ],
)
def test_code_that_looks_like_a_shown_object_stays(text: str) -> None:
    assert repair(text).text == text


def test_a_short_question_below_the_code_is_a_sentence() -> None:
    for words in ("prints None. Why?", "returns None instead.", "is None for w. Any idea?"):
        assert code_of(f"> w = tf.Variable(1.0)\n> print(w)\n>\n> {words}\n").count("\n") == 1
    assert repair("w = tf.Variable(1.0)\nretrun w\n").error is not None


def test_a_diff_becomes_its_new_side() -> None:
    text = "--- a/run.py\n+++ b/run.py\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 2\n print(x)\n"
    assert code_of(text) == "x = 2\nprint(x)"
    assert whats(text)[4] == "the diff removes this line: kept as a comment"
    assert code_of("-x = 1\n+x = 2\n print(x)\n") == "x = 2\nprint(x)"
    fenced = "Change these lines:\n\n```\n-x = 1\n+x = 2\n print(x)\n```\n\nThen run it.\n"
    assert code_of(fenced) == "x = 2\nprint(x)"


def test_numbers_with_signs_are_no_diff() -> None:
    numbers = "labels = [\n+1,\n-1,\n]\n"
    assert code_of(f"    {numbers}") == "labels = [+1, -1]"
    diff = "@@ -1,2 +1,2 @@\n-x = 1\n+x = 2\n y = 3\n"
    assert code_of(f"{diff}{numbers}") == "x = 2\ny = 3\nlabels = [+1, -1]"


def test_a_timed_statement_runs_without_the_magic() -> None:
    text = "%time w = tf.Variable(1.0)\nif w > 0:\n    %time w.assign(2.0)\n%time\n%timeit w + 1\n"
    assert code_of(text) == "w = tf.Variable(1.0)\nif w > 0:\n    w.assign(2.0)"
    assert whats(text)[3] == "removed %time"


@pytest.mark.parametrize(
    "words",
    [
        "Copy",
        "python",
        "train.py",
        "Reply",
        "Listing 4.3 – A small network",
        "Solution 2:",
        "Epoch 1: loss = 0.23",
        "Python 3.8.10",
        "↑ 3 ↓",
        "tf.Tensor(3.0, shape=(), dtype=float32)",
    ],
)
def test_words_around_the_code_are_no_code(words: str) -> None:
    """Some of them parse, and would raise a NameError or TypeError when they run."""
    code = "x = tf.Variable(1.0)\ny = x * x"
    assert code_of(f"{words}\n{code}\n") == code
    assert code_of(f"{code}\n{words}\n") == code


@pytest.mark.parametrize(
    "text",
    [
        "loss = 1\nlss\n",  # a misspelled name
        "hello\n",  # nothing but the word
        "from words import *\nReply\n",
        "x = 1\nReply\nx = 2\n",  # in the middle it may be meant
        "def Reply():\n    pass\nReply\n",
    ],
)
def test_a_name_that_may_be_meant_stays(text: str) -> None:
    assert repair(text).text == text


def test_a_name_and_a_number_may_be_mistyped_code() -> None:
    for line in ("rate 1", "print 3", "retrun 3"):
        assert repair(f"{line}\nx = 2 * rate\n").error is not None


def test_a_number_among_sentences_is_no_code() -> None:
    text = "Why is it None?\n\n3\n\nx = 1.0\n\nThat is all I have so far.\n0 0.31\n1 0.29\n"
    assert code_of(text) == "x = 1.0"


def test_a_listing_of_a_book_lost_indentation_and_has_a_caption() -> None:
    text = """\
The gradi-
ents are computed by calling gradient().
Listing 4.3 – A small network
1 def forward(x):
2 return x * ‘a’
3
4 forward(2)
86
Chapter 4. Deep learning
"""
    assert code_of(text) == "def forward(x):\n    return x * 'a'\nforward(2)"


PLAIN_CODE = "import tensorflow as tf\nx = tf.Variable(3.0)\ny = x * x\n"
AROUND = [
    "with this code",
    "with this code:",
    "for example:",
    "from the docs",
    "if I run this",
    "try this:",
    "or use this",
    "and then",
    "else it fails",
    "pass it",
    "---",
    "======",
    "tensorflow 2.15.0",
    "TensorFlow version: 2.15",
    "[3]\n0s",
    "1.2 s",
]


@pytest.mark.parametrize("words", AROUND)
def test_words_that_begin_like_code_are_none_beside_code(words: str) -> None:
    plain = ast.unparse(ast.parse(PLAIN_CODE))
    assert code_of(f"my\ncode\n{words}\n{PLAIN_CODE}") == plain
    assert code_of(f"{PLAIN_CODE}{words}\n") == plain
    assert code_of(f"{PLAIN_CODE}{words}\n\n{PLAIN_CODE}") == f"{plain}\n{plain}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("for item in items\nprint(item)\n", 1),
        ("with tape as t\ny = 1\n", 1),
        ("while training\nstep()\n", 1),
        ("if loss is nan\nprint(1)\n", 1),
        ("x = 1\nif x\n    print(x)\n", 2),
        ("x = 1\nwith open file\nprint(x)\n", 2),
        ("if training on\n    step()\n", 1),
        ("from keras import layers Dense\nx = 1\n", 1),
        ("for epoch\n", 1),
        ("a = 1\na --- 2 +\n", 2),
        ("x = tf\nx 2.5\n", 2),
    ],
)
def test_a_statement_that_lacks_something_is_no_sentence(text: str, line: int) -> None:
    found = repair(text)
    assert found.error is not None
    assert found.error.line == line


TENSOR = """\
<tf.Tensor: shape=(2, 1, 2), dtype=float32, numpy=
array([[[1., 2.]],

       [[3., 4.]]], dtype=float32)>"""
PRINTED = {
    "an array with blank lines": TENSOR,
    "a printed tensor with blank lines": """\
tf.Tensor(
[[[1. 2.]]

 [[3. 4.]]], shape=(2, 1, 2), dtype=float32)""",
    "a list of tensors over several lines": f"[{TENSOR},\n {TENSOR}]",
    "a list that begins with None": f"[None, {TENSOR}]",
    "a dict of tensors": f"{{'w': {TENSOR}, 'b': <tf.Variable 'b:0' shape=() dtype=float32>}}",
    "a list behind a label": f"grads: [{TENSOR}, None]",
    "the gradient of a lookup": """\
IndexedSlices(indices=tf.Tensor([0 1], shape=(2,), dtype=int32), values=tf.Tensor(
[[1. 1.]
 [1. 1.]], shape=(2, 2), dtype=float32), dense_shape=tf.Tensor([2 2], shape=(2,), dtype=int32))""",
}


@pytest.mark.parametrize("name", PRINTED)
def test_a_printed_object_ends_where_its_brackets_close(name: str) -> None:
    found = repair(f"x = tf.ones([2, 1, 2])\n{PRINTED[name]}\ny = x * 2\n")
    assert found.error is None, found.error
    assert found.skipped == ()
    assert ast.unparse(ast.parse(found.text)) == "x = tf.ones([2, 1, 2])\ny = x * 2"


def test_a_printed_object_that_is_cut_off_takes_no_code_with_it() -> None:
    text = "x = 1\n<tf.Tensor: shape=(900, 2), dtype=float32, numpy=\ny = x * 2\n"
    assert code_of(text) == "x = 1\ny = x * 2"


def test_a_list_that_is_printed_on_the_first_line_takes_no_code_with_it() -> None:
    number = "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"
    text = f"[{number}, None]\nx = 1\n{number}\ny = x * 2\n"
    assert code_of(text) == "x = 1\ny = x * 2"


def test_entities_that_were_encoded_many_times_are_decoded() -> None:
    assert code_of(f"f(a &{'amp;' * 2_000}lt; 1)") == "f(a < 1)"


def test_a_failed_test_is_shown_by_pytest_with_marks_in_its_margin() -> None:
    text = """\
=================================== FAILURES ===================================
________________________________ test_gradient _________________________________

    def test_gradient():
        x = tf.Variable(1.5)
        with tf.GradientTape() as tape:
            y = tf.round(x)
        grad = tape.gradient(y, x)
>       assert grad is not None
E       assert None is not None

test_grad.py:9: AssertionError
"""
    assert code_of(text).splitlines() == [
        "def test_gradient():",
        "    x = tf.Variable(1.5)",
        "    with tf.GradientTape() as tape:",
        "        y = tf.round(x)",
        "    grad = tape.gradient(y, x)",
        "    assert grad is not None",
    ]
    found = repair(text)
    assert "removed pytest's mark >" in [each.what for each in found.repairs if each.line == 9]


@pytest.mark.parametrize(
    "words",
    [
        "Fine-tuning",  # would be a subtraction
        "type:support",  # would be an annotation
        "r/tensorflow",
        "Gradient is None, help",  # ``help`` is a builtin
        "@someone Yes, then it works. Why?",
    ],
)
def test_words_of_a_page_are_no_part_that_was_left_out(words: str) -> None:
    text = f"This is my code:\nx = tf.Variable(1.0)\n\nIt does not work.\n{words}\nThank you!\n"
    found = repair(text)
    assert (found.error, found.skipped) == (None, ())
    assert code_of(text) == "x = tf.Variable(1.0)"


def test_a_name_of_a_sentence_may_stand_on_a_line_of_its_own() -> None:
    text = """\
x = tf.Variable(1.0)
One common error is to inadvertently replace a tf.Variable
with a tf.Tensor
, instead of using assign (see tf.nest
).
y = x * 2
"""
    found = repair(text)
    assert (found.error, found.skipped) == (None, ())
    assert code_of(text) == "x = tf.Variable(1.0)\ny = x * 2"
