"""The code in TensorFlow that stands for a call of NumPy or SciPy gives the same numbers."""

from __future__ import annotations

import re
from itertools import starmap

import libcst as cst

from tapeviz.fixes.nodes import all_of
from tapeviz.fixes.source import ParsedSource
from tapeviz.fixes.translation.numpy_words import FUNCTIONS, twin_of
from tapeviz.recording.live import Recorder, Snippet

HEAD = """
import numpy as np
import tensorflow as tf
a, u = np.float32([1.0, 2.5, 0.5, 4.0, 3.0]), np.float32([0.5, 2.0, 1.0, 3.5, 1.5])
b, c, m = np.float32([0.2, 0.5, 0.3]), np.float32([0.5, 1.0, 2.5]), np.float32([[2, 1], [1, 3]])
given, wrong = [tf.constant(each) for each in (a, b, m, u, c)], []
def compare(call, twin, wanted):
    found = np.array(twin(*given))
    if found.shape != np.shape(wanted) or not np.allclose(found, wanted, 1e-4, 1e-5):
        wrong.append((call, found.tolist(), np.array(wanted).tolist()))
"""
CALLS = """
convolve(a, b) | convolve(a, b, "same") | convolve(a, b, mode="valid") | correlate(a, b)
correlate(a, b, "full") | interp(u, c, b) | cov(m) | cov(a, u) | cov(m, rowvar=False)
cov(m, bias=True) | cov(m, ddof=0) | corrcoef(m) | corrcoef(a, u) | gradient(a)
gradient(a, 0.5) | polyfit(a, u, 2) | pad(a, 2) | pad(a, (1, 2)) | pad(m, 1)
pad(m, ((1, 0), (0, 2))) | pad(a, 2, "reflect") | pad(a, 2, "symmetric")
pad(a, 1, constant_values=7.0) | roll(a, 1) | roll(m, 1, axis=0) | roll(m, 1) | argsort(a)
linspace(0.0, 1.0, 5) | hypot(a, u) | cbrt(a - 2.0) | exp2(a) | median(a) | median(b)
quantile(a, 0.25) | percentile(a, 80.0) | radians(a) | degrees(a) | deg2rad(a) | rad2deg(a)
logaddexp(a, u) | log2(a) | log10(a) | concatenate([a, b]) | concatenate([m, m], axis=1)
column_stack([a, u]) | inner(a, u) | outer(a, b) | ravel(m) | fft.fft(a) | fft.ifft(a)
fft.fft2(m) | fft.ifft2(m) | fft.rfft(a) | fft.rfft2(m) | nan_to_num(a) | mod(a, 2.0)
full([2, 3], 0.5) | trace(m) | var(a) | std(a) | float64(a) | array(a) | linalg.inv(m)
linalg.det(m)
"""
"""Calls of NumPy, whose own numbers are wanted, with ``|`` or the end of a line between them."""
WANTED = {
    "np.trapz(a)": "np.sum((a[1:] + a[:-1]) / 2)",
    "np.trapz(a, dx=0.5)": "np.sum((a[1:] + a[:-1]) / 4)",
    "scipy.signal.fftconvolve(a, b)": "np.convolve(a, b)",
    "scipy.integrate.simpson(a, dx=0.5)": "0.5 / 3 * (1 + 4 * (2.5 + 4) + 2 * 0.5 + 3)",
    "scipy.integrate.trapezoid(a, u)": "np.sum((a[1:] + a[:-1]) / 2 * np.diff(u))",
    "scipy.stats.entropy(a)": "-np.sum(a / a.sum() * np.log(a / a.sum()))",
    "scipy.stats.entropy(a, u)": ("np.sum(a / a.sum() * np.log(a / a.sum() / (u / u.sum())))"),
    "scipy.stats.norm.pdf(a, 1.0, 2.0)": "np.exp(-((a - 1) / 2) ** 2 / 2) / 2 / np.sqrt(2 * np.pi)",
    "scipy.stats.norm.logpdf(a)": "-a ** 2 / 2 - np.log(2 * np.pi) / 2",
    "scipy.stats.norm.cdf(a)": "[0.8413447, 0.9937903, 0.6914625, 0.9999683, 0.9986501]",
    "scipy.special.logit(b)": "np.log(b / (1 - b))",
    "scipy.special.entr(a)": "-a * np.log(a)",
    "scipy.special.softmax(a)": "np.exp(a) / np.exp(a).sum()",
    "scipy.special.logsumexp(a)": "np.log(np.exp(a).sum())",
    "scipy.special.gamma(a)": "[1.0, 1.3293404, 1.7724539, 6.0, 2.0]",
    "scipy.spatial.distance.euclidean(a, u)": "np.sqrt(np.sum((a - u) ** 2))",
    "scipy.spatial.distance.cosine(a, u)": ("1 - a @ u / np.sqrt(a @ a) / np.sqrt(u @ u)"),
    "scipy.spatial.distance.cdist(m, m)": "[[0, np.sqrt(5)], [np.sqrt(5), 0]]",
}
"""Calls of SciPy, or of what a NumPy lacks, and the numbers that they give."""


def comparison(call: str, wanted: str) -> str:
    """A line that compares the code for a call with the numbers that it must give."""
    source = ParsedSource(f"import numpy as np\nimport tensorflow as tf\n{call}\n")
    node = next(each for each in all_of(source.module, cst.Call) if source.code(each) == call)
    function = source.code(node.func).removeprefix("np.").removeprefix("scipy.")
    assert function in FUNCTIONS
    code = twin_of(source, function, node)
    return f"compare({call!r}, lambda a, b, m, u, c: {code}, {wanted})\n"


def test_the_twin_of_a_function_gives_its_numbers(recorder: Recorder) -> None:
    calls = (f"np.{call.strip()}" for call in re.split(r"[|\n]", CALLS.strip()))
    compared = {call: call for call in calls} | WANTED
    text = HEAD + "".join(starmap(comparison, compared.items())) + "assert not wrong, wrong\n"
    trace = recorder.record(Snippet(text)).wait(60)
    assert trace.failure is None, trace.failure.message
