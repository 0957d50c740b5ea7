"""Explain exceptions of lists and dicts: keys and elements that they do not have."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from pathlib import PurePath

from ....text.called_names import VARIABLE_LISTS
from ....text.names import dotted, names_in
from ....text.trees import lines_of
from ....trace.events import HeldValue
from ....wording import listed
from ..case import Case
from ..tensors.operands import KEYS_SHOWN, never_filled
from .results import several_returned

_DEVICES = r"\blist_(?:physical|logical)_devices\("


def no_key(case: Case) -> str:
    """A missing key: the result of a gradient call has the structure of its sources."""
    call = next((call for call in reversed(case.trace.calls) if call.ended), None)
    bound = [binding for binding in case.trace.bindings if call and binding.site.line == call.line]
    if call is None or not any(f"{binding.name}[" in case.code for binding in bound):
        return _key_of_dict(case)
    return (
        f"Line {case.line} looks for a gradient that the call on line {call.line} did not return. "
        f"gradient() gives back the structure of its sources: one gradient for each source given "
        f"there, and no more. Add the missing source to that call."
    )


def missing_key(case: Case) -> tuple[ast.Subscript, HeldValue] | None:
    """The expression on the line that takes an element of a dict which lacks the key of the
    message, and that dict; None if there is none, or several."""
    key = case.failure.message.strip("'\"")
    found = [
        (node, held)
        for node in case.elements_taken
        if (held := case.held.get(ast.unparse(node.value))) is not None
        if held.keys and held.size >= 0 and key not in held.keys
        if not isinstance(node.slice, ast.Constant) or str(node.slice.value) == key
    ]
    return found[0] if len(found) == 1 else None


def near_key(key: str, known: Sequence[str]) -> str:
    """The key of a dict that is spelt most like one that it lacks; empty if none is near."""
    return "".join(difflib.get_close_matches(key, known, n=1, cutoff=0.5))


def _key_of_dict(case: Case) -> str:
    found = missing_key(case)
    if found is None:
        return ""
    key, held = case.failure.message.strip("'\""), found[1]
    for loop in case.nodes(ast.For):
        looped = case.held.get(ast.unparse(loop.iter))
        is_of_dict = looped is not None and looped.size > 0 and bool(looped.keys)
        is_taken = not names_in(found[0].slice).isdisjoint(names_in(loop.target))
        is_inside = is_taken and case.line in lines_of(loop)[1:]
        if is_inside and isinstance(loop.target, ast.Tuple) and looped and is_of_dict:
            return (
                f"The loop on line {loop.lineno} goes over {looped.name}, a dict, and that gives "
                f"its keys, of which a text is taken apart into letters; so line {case.line} finds "
                f"no {key} in {held.name}. Write for … in {looped.name}.items():."
            )
    if key.startswith("val_") and not any(each.startswith("val_") for each in held.keys):
        return (
            f"Line {case.line} takes the element {key} of {held.name}, which has "
            f"{', '.join(held.keys)}. fit of Keras gives numbers of val_ only if it is given "
            f"validation_data or validation_split."
        )
    near = near_key(key, held.keys)
    has = f"whose keys are {', '.join(held.keys)}"
    if held.size > len(held.keys):
        has = f"which has {held.size} keys, among them {', '.join(held.keys[:KEYS_SHOWN])}"
    remedy = f"Write {near} in place of {key}" if near else "Look what gives it its keys"
    return (
        f"Line {case.line} takes the element {key} of {held.name}, a dict {has}. {remedy}, or "
        f"take {held.name}.get(…) where a key may be missing."
    )


def words_apart(case: Case) -> str:
    """Words that one list in the message has and the other lacks, as keys that were expected."""
    extra, missing = apart(case.failure.message)
    lines = {
        word: [n.lineno for n in case.nodes(ast.Constant) if n.value == word] for word in extra
    }
    written = [f"{word} (line {lines[word][0]})" for word in extra if lines[word]]
    if not written or not missing:
        return ""
    return (
        f"Line {case.line} needs {listed(missing)}, and was given {listed(written)} in place of "
        f"that. Write the names that are expected."
    )


def apart(message: str) -> tuple[Sequence[str], Sequence[str]]:
    """The words that only the second list in a message has, and those that only the first one has:
    ``Expected keys ['a', 'b'] …, but found …=['c', 'b']``."""
    found = [re.findall(r"'([^']*)'", each) for each in re.findall(r"[\[{(]('[^\]})]*)", message)]
    if len(found) != 2:
        return (), ()
    first, second = found
    return [w for w in second if w not in first], [w for w in first if w not in second]


def no_number(case: Case) -> str:
    """An element of a list or tuple that is asked for by something else than a whole number."""
    kind, index = case.match["kind"], case.match["index"].rpartition(".")[2]
    found = {
        path: None
        for path in (ast.unparse(node.value) for node in case.elements_taken)
        if (held := case.held.get(path)) is not None and held.size >= 0 and not held.keys
    }
    owner = f"{next(iter(found))}, a {kind}" if len(found) == 1 else f"a {kind}"
    remedy = {
        "str": "Take it by its number, or unpack it, as in x, y = batch; keys are of dicts.",
        "float": "Write int(i), or // in place of / where the number is made.",
        "tuple": several_returned(case, next(iter(found), ""))
        or "Take one of its elements first, x[0], and then a part of that, or make one tensor of "
        "all by tf.stack(x).",
    }.get(index, "Only arrays and tensors take several places: np.array(x)[places].")
    if index == "str" and any(
        ast.unparse(n.value).endswith(".layers") for n in case.elements_taken
    ):
        remedy = "A model finds a layer by its name, too: model.get_layer('name')."
    return (
        f"Line {case.line} takes an element of {owner} by a {index}, and the elements of a {kind} "
        f"have numbers from 0 on. {remedy}"
    )


def _beyond_the_end(case: Case, found: Sequence[ast.Subscript]) -> str:
    """Words for the first element taken at a place that a list or tuple does not have."""
    for node in sorted(found, key=lambda each: (each.lineno, each.col_offset)):  # as they are run
        held, index = case.held.get(ast.unparse(node.value)), _whole_number(case, node.slice)
        if held is None or index is None or held.keys or -held.size <= index < held.size:
            continue
        name, words = case.text.segment(node.value), case.text.segment(node.slice)
        if held.name.rpartition(".")[2] in VARIABLE_LISTS or held.size < 0:
            continue
        loop = _loop_over_range(case, node.slice)
        at = f"element {index} of {name}"
        at += "" if words == str(index) else f" ({words} is {index})"
        if not held.size:
            return (
                f"Line {case.line} takes {at}, which is empty. "
                f"{never_filled(case, name) or 'Look why nothing was put into it before.'}"
            )
        elements = "has 1 element, number 0"
        if held.size > 1:
            elements = f"has {held.size} elements, numbered 0 to {held.size - 1}"
        remedy = "Look at the index, or at what fills the list."
        if loop is not None:
            remedy = f"Let the loop on line {loop.lineno} go over range(len({name}))."
        return f"Line {case.line} takes {at}, which {elements}. {remedy}"
    return ""


def _whole_number(case: Case, node: ast.expr) -> int | None:
    """The value of an index made of whole numbers and names for such: ``i + 1``."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, (ast.Name, ast.Attribute)):
        held = case.held.get(dotted(node))
        return int(held.value) if held is not None and held.type == "int" and held.value else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        of = _whole_number(case, node.operand)
        return None if of is None else -of
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = _whole_number(case, node.left), _whole_number(case, node.right)
        if left is not None and right is not None:
            return left + right if isinstance(node.op, ast.Add) else left - right
    return None


def _loop_over_range(case: Case, index: ast.expr) -> ast.For | None:
    """The loop around the line that counts a name by ``range``, if the index is that name."""
    loops = [
        node
        for node in case.nodes(ast.For)
        if case.line in lines_of(node)[1:]
        if isinstance(index, ast.Name) and dotted(node.target) == index.id
        if isinstance(node.iter, ast.Call) and dotted(node.iter.func) == "range"
    ]
    return loops[-1] if loops else None


def no_place(case: Case) -> str:
    """An element of a list beyond its end, asked for by a number in the text; not an error that a
    function of a library raised, whatever it was given."""
    frames = re.findall(r'^ +File "(.*?)", line (\d+)', case.failure.traceback, re.MULTILINE)
    name = PurePath(case.trace.filename).name
    if frames and (PurePath(frames[-1][0]).name, int(frames[-1][1])) != (name, case.line):
        return ""  # Python names the whole path of a script, whatever it was called by
    found = case.elements_taken
    if words := _beyond_the_end(case, found):
        return words
    if len(found) != 1 or not isinstance(found[0].slice, (ast.Constant, ast.Name)):
        return ""
    owner, index = case.text.segment(found[0].value), case.text.segment(found[0].slice)
    made = case.last_binding(owner)
    if re.search(_DEVICES, ast.unparse(made) if made is not None else owner):
        return (
            f"Line {case.line} takes device {index} of a list, and TensorFlow finds fewer of this "
            f"kind. Ask first, as in if gpus:, so that the program runs without one, too."
        )
    if owner.rpartition(".")[2] in VARIABLE_LISTS and not any(
        variable.path for variable in case.trace.variables.values()
    ):
        return (
            f"Line {case.line} takes element {index} of {owner}, which has fewer. A layer or model "
            f"of Keras makes its variables when it is first called, and has none before. Call it "
            f"once with data, or print len({owner}) just before."
        )
    return ""
