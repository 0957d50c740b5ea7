"""Code in TensorFlow for calls of NumPy and SciPy that depends on which arguments they have."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..nodes import argument, dotted, elements
from ..source import ParsedSource


def _log(source: ParsedSource, call: cst.Call) -> str:
    """``math.log(x, base)``; empty without a base."""
    x, base = source.argument_code(call, 0), source.argument_code(call, 1)
    base = f"{base}.0" if base.isdigit() else base
    return f"({source.tf}.math.log({x}) / {source.tf}.math.log({base}))" if base else ""


def _convolved(source: ParsedSource, call: cst.Call) -> str:
    """TensorFlow's convolution does not flip the kernel, and pads by hand."""
    tf = source.tf
    a, v, mode = (source.argument_code(call, *at) for at in ((0, "a"), (1, "v"), (2, "mode")))
    n = f"{tf}.size({v})"
    pads = {"full": f"[{n} - 1, {n} - 1]", "same": f"[{n} // 2, ({n} - 1) // 2]", "valid": "[0, 0]"}
    around = f"[[0, 0], {pads.get(mode.strip(chr(34) + chr(39)), pads['full'])}, [0, 0]]"
    padded = f"{tf}.pad({tf}.reshape({a}, [1, -1, 1]), {around})"
    kernel = f"{tf}.reshape({tf}.reverse({v}, [0]), [-1, 1, 1])"
    return f'{tf}.nn.conv1d({padded}, {kernel}, 1, "VALID")[0, :, 0]'


def _correlated(source: ParsedSource, call: cst.Call) -> str:
    """The convolution with the reversed second row; by default only where the rows overlap."""
    a, v, mode = (source.argument_code(call, *at) for at in ((0, "a"), (1, "v"), (2, "mode")))
    turned = f"np.convolve({a}, {source.tf}.reverse({v}, [0]), {mode or repr('valid')})"
    convolved = cst.parse_expression(turned)
    assert isinstance(convolved, cst.Call)
    return _convolved(source, convolved)


def _covariance(source: ParsedSource, call: cst.Call) -> str:
    """Covariance of a matrix by rows, by columns with ``rowvar=False``, or of two vectors."""
    tf, plain = source.tf, [source.code(arg.value) for arg in call.args if arg.keyword is None]
    named = {arg.keyword.value: source.code(arg.value) for arg in call.args if arg.keyword}
    if len(plain) not in (1, 2) or named.keys() - {"rowvar", "bias", "ddof"}:
        return ""
    x = plain[0] if len(plain) == 1 else f"{tf}.stack([{plain[0]}, {plain[1]}])"
    if named.get("rowvar") in ("False", "0"):
        x = f"{tf}.transpose({x})"
    less = named.get("ddof") or ("0" if named.get("bias") in ("True", "1") else "1")
    size = f"{tf}.cast({tf}.shape(x)[1] - {less}, x.dtype)"
    around = f"x - {tf}.reduce_mean(x, axis=1, keepdims=True)"
    product = f"(lambda d: {tf}.matmul(d, d, transpose_b=True) / {size})({around})"
    return f"(lambda x: {product})({x})"


def _correlation(source: ParsedSource, call: cst.Call) -> str:
    """The covariance of what was brought to a deviation of 1."""
    covariance, tf = _covariance(source, call), source.tf
    spread = f"{tf}.sqrt({tf}.linalg.diag_part(c))"
    return f"(lambda c: c / {tf}.tensordot({spread}, {spread}, 0))({covariance})"


def _differences(source: ParsedSource, call: cst.Call) -> str:
    """Half the difference of the neighbours of each element of a row; the whole one at the ends."""
    plain = [source.operand(arg.value) for arg in call.args]
    if len(plain) > 2 or any(arg.keyword is not None for arg in call.args):
        return ""
    inner, ends = "(y[2:] - y[:-2]) / 2.0", ("y[1:2] - y[:1]", "y[-1:] - y[-2:-1]")
    row = f"{source.tf}.concat([{ends[0]}, {inner}, {ends[1]}], 0)"
    return f"(lambda y: {row})({plain[0]})" + (f" / {plain[1]}" if len(plain) > 1 else "")


def _fitted(source: ParsedSource, call: cst.Call) -> str:
    """``np.polyfit``: the coefficients of least squares, that of the highest power first."""
    tf, (x, y, degree) = source.tf, (source.argument_code(call, *at) for at in _POINTS)
    powers = f"{tf}.experimental.numpy.vander({x}, {degree} + 1)"
    column = f"{tf}.expand_dims({y}, 1)"
    return f"{tf}.linalg.lstsq({tf}.cast({powers}, {y}.dtype), {column})[:, 0]"


_POINTS = ((0, "x"), (1, "y"), (2, "deg"))


def _interpolated(source: ParsedSource, call: cst.Call) -> str:
    """The height of the first point and, of each piece, the slope times the part of it passed."""
    tf = source.tf
    x, *points = (source.argument_code(call, *at) for at in ((0, "x"), (1, "xp"), (2, "fp")))
    part = f"{tf}.expand_dims(x, -1) - xp[:-1]"
    # With clip_by_value the slopes of both pieces would count where x is a point itself.
    passed = f"{tf}.maximum({tf}.minimum(xp[1:] - xp[:-1], {part}), 0.0)"
    rest = f"{tf}.reduce_sum({passed} * (fp[1:] - fp[:-1]) / (xp[1:] - xp[:-1]), -1)"
    given = ", ".join((x, *(f"{tf}.cast({each}, {tf}.float32)" for each in points)))
    return f"(lambda x, xp, fp: fp[0] + {rest})({given})"


def interpolated_by(source: ParsedSource, call: cst.Call) -> Callable[[cst.Call], str] | None:
    """The code for a call of what was made by ``scipy.interpolate.interp1d(xs, ys)``."""
    made = source.value_of(call.func)
    if not isinstance(made, cst.Call) or dotted(made.func) != "scipy.interpolate.interp1d":
        return None
    points = [arg for arg in made.args if arg.keyword is None][:2]
    return lambda old: _interpolated(source, old.with_changes(args=[*old.args[:1], *points]))


def solved_vector(source: ParsedSource, call: cst.Call) -> str:
    """``np.linalg.solve(a, b)`` of a vector, which TensorFlow asks to be a column."""
    tf, a, b = source.tf, source.argument_code(call, 0, "a"), source.argument_code(call, 1, "b")
    return f"{tf}.linalg.solve({a}, {b}[:, {tf}.newaxis])[:, 0]"


def _padded(source: ParsedSource, call: cst.Call) -> str:
    """``np.pad(x, n, mode)``: TensorFlow wants a pair for each axis, and knows three modes; empty
    for the others, and where the pairs are written out."""
    x, width, mode, value = (source.argument_code(call, *at) for at in _PADDING)
    given = argument(call, 1, "pad_width")
    pair = elements(given)
    if any(isinstance(end, (cst.List, cst.Tuple)) for end in pair) or len(pair) == 1:
        pairs = width
    elif len(pair) == 2:
        pairs = f"[{width}] * len({x}.shape)"
    else:
        pairs = f"[[{width}, {width}]] * len({x}.shape)"
    kind = mode.strip("\"'") or "constant"
    if kind not in ("constant", "reflect", "symmetric"):
        return ""
    more = f', mode="{kind.upper()}"' if kind != "constant" else ""
    more += f", constant_values={value}" if value else ""
    return f"{source.tf}.pad({x}, {pairs}{more})"


_PADDING = ((0, "array"), (1, "pad_width"), (2, "mode"), (9, "constant_values"))


def _area(source: ParsedSource, call: cst.Call) -> str:
    y, x, width = (source.argument_code(call, *at) for at in ((0, "y"), (1, "x"), (2, "dx")))
    width = f" * ({x}[1:] - {x}[:-1])" if x else f" * {width}" if width else ""
    return f"{source.tf}.reduce_sum(({y}[1:] + {y}[:-1]) / 2.0{width})"


def _area_by_parabolas(source: ParsedSource, call: cst.Call) -> str:
    """Simpson's rule, for an odd number of points at one distance."""
    y, x, width = (source.argument_code(call, *at) for at in ((0, "y"), (1, "x"), (2, "dx")))
    width = f"({x}[1] - {x}[0])" if x else width or "1.0"
    inner = f"4.0 * {source.tf}.reduce_sum({y}[1::2]) + 2.0 * {source.tf}.reduce_sum({y}[2:-1:2])"
    return f"({width} / 3.0 * ({y}[0] + {y}[-1] + {inner}))"


def _normal(form: str) -> Callable[[ParsedSource, cst.Call], str]:
    """A function of the normal distribution of ``{z}``, which is ``x`` less the mean by the
    deviation ``{s}``."""

    def code(source: ParsedSource, call: cst.Call) -> str:
        x, mean, deviation = (
            source.argument_code(call, *at) for at in ((0, "x"), (1, "loc"), (2, "scale"))
        )
        z = f"({x} - {mean})" if mean else x
        z = f"({z} / {deviation})" if deviation else z
        return form.format(tf=source.tf, z=z, s=deviation or "1.0")

    return code


def _entropy(source: ParsedSource, call: cst.Call) -> str:
    """The entropy of numbers that need not sum to 1, or their divergence from a second row."""
    tf, p, q = source.tf, source.argument_code(call, 0, "pk"), source.argument_code(call, 1, "qk")
    p = f"({p} / {tf}.reduce_sum({p}))"
    if not q:
        return f"(-{tf}.reduce_sum({tf}.math.xlogy({p}, {p})))"
    q = f"({q} / {tf}.reduce_sum({q}))"
    return f"{tf}.reduce_sum({tf}.math.xlogy({p}, {p} / {q}))"


_LOG_OF_ROOT = "0.9189385332046727"  # log(sqrt(2 pi))


def _rolled(source: ParsedSource, call: cst.Call) -> str:
    """``np.roll(a, 1)``, which TensorFlow has without an axis among its functions for NumPy's."""
    module = "" if argument(call, 2, "axis") is not None else ".experimental.numpy"
    given = ", ".join(source.code(arg).rstrip(", ") for arg in call.args)
    return f"{source.tf}{module}.roll({given})"


BY_ARGUMENTS: dict[str, Callable[[ParsedSource, cst.Call], str]]
BY_ARGUMENTS = {"log": _log, "convolve": _convolved, "interp": _interpolated}
BY_ARGUMENTS |= {"trapz": _area, "trapezoid": _area, "correlate": _correlated}
BY_ARGUMENTS |= {"cov": _covariance, "corrcoef": _correlation, "gradient": _differences}
BY_ARGUMENTS |= {"polyfit": _fitted, "pad": _padded, "roll": _rolled}
BY_ARGUMENTS |= {
    **{f"signal.{name}": _convolved for name in ("convolve", "fftconvolve")},
    **{f"integrate.{name}": _area for name in ("trapz", "trapezoid")},
    **{f"integrate.{name}": _area_by_parabolas for name in ("simps", "simpson")},
    "stats.entropy": _entropy,
    "stats.norm.logpdf": _normal(
        f"(-0.5 * {{tf}}.square({{z}}) - {_LOG_OF_ROOT} - {{tf}}.math.log({{s}}))"
    ),
    "stats.norm.pdf": _normal(
        f"({{tf}}.exp(-0.5 * {{tf}}.square({{z}}) - {_LOG_OF_ROOT}) / {{s}})"
    ),
    "stats.norm.cdf": _normal("(0.5 * {tf}.math.erfc(-{z} / 1.4142135623730951))"),
}
