"""Explain exceptions of datasets, iterators and generators, and of what is taken out of them.

The messages are those of TensorFlow 2.15 to 2.21, Keras 2 and 3, and Python 3.10 to 3.13.
"""

from __future__ import annotations

import ast

from ....text.names import called_name
from ..case import Case

_WITH_FUNCTIONS = ("map", "filter", "flat_map", "interleave", "take_while", "group_by_window")
"""Methods of datasets that hand the parts of an element, if that is a tuple, to a function as
arguments (``StructuredFunctionWrapper`` in structured_function.py, 2.15-2.21)."""


def no_element_left(case: Case) -> str:
    """``next`` of an iterator that has given its last element."""
    call = next((c for c in case.calls if called_name(c) in ("next", "get_next")), None)
    if call is None:
        return ""
    given = call.args[0] if call.args else None
    if isinstance(given, ast.Call) and called_name(given) == "iter" and given.args:
        data = case.text.segment(given.args[0])
        shown = f"{data}.cardinality()" if data.isidentifier() else "the dataset's cardinality()"
        return (
            f"Line {case.line} takes the first element of {data}, and there is none. Print "
            f"{shown} after each step that makes the dataset: filter, take and skip may "
            f"leave nothing, and batch(n, drop_remainder=True) of fewer than n elements."
        )
    asked = case.text.segment(given) if given is not None else "an iterator"
    return (
        f"Line {case.line} asks {asked} for another element, and it has given its last one. "
        f"A for loop over the data ends there by itself; dataset.repeat() begins again. Else make "
        f"a new iterator for each pass over the data, by iter(…)."
    )


def parts_of_element(case: Case) -> str:
    """A function given to ``map`` whose parameters are not as many as an element has parts."""
    method = next((c for c in case.calls if called_name(c) in _WITH_FUNCTIONS), None)
    if method is None or not isinstance(method.func, ast.Attribute):
        return _given_lambda(case)
    found = case.match.groupdict()
    takes = (
        f"takes {found['takes']} of its {found['given']} arguments"
        if found.get("given")
        else "needs more arguments than it is given"
    )
    return (
        f"The function that line {case.line} gives to {method.func.attr} {takes}. Each part of an "
        f"element of the dataset is an argument of its own: a dataset of inputs and labels needs "
        f"lambda x, y: …, one of single tensors lambda x: …. "
        f"Print dataset.element_spec to see the parts."
    )


def _given_lambda(case: Case) -> str:
    """Words for the first lambda that the line gives to a function, which calls it otherwise."""
    for call in case.calls:
        for function in [*call.args, *(each.value for each in call.keywords)]:
            if isinstance(function, ast.Lambda):
                names = ", ".join(each.arg for each in function.args.args)
                return (
                    f"Line {case.line} gives {case.text.segment(call.func)} a lambda with the "
                    f"parameters {names or 'none'}, and it is called with another number of "
                    f"arguments. A tuple comes as a single one: lambda t: t[1] takes its second "
                    f"part."
                )
    return ""


def unpacked_elements(case: Case) -> str:
    """``for x, y in data`` or ``for i, (x, y) in enumerate(data)`` of other elements than pairs."""
    statement = case.statement
    if not isinstance(statement, (ast.For, ast.AsyncFor)):
        return ""
    iterated, target = statement.iter, statement.target
    if isinstance(iterated, ast.Call) and called_name(iterated) in PAIRING:
        if isinstance(target, ast.Tuple) and len(target.elts) > 2:
            pairs, (first, *others) = case.text.segment(iterated), map(ast.unparse, target.elts)
            return (
                f"{pairs} on line {case.line} gives pairs, and the loop has {len(target.elts)} "
                f"names for each. Put those for the second part of a pair into parentheses: "
                f"for {first}, ({', '.join(others)}) in {pairs}:."
            )
        if iterated.args:
            iterated = iterated.args[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            target = target.elts[1]
    data = case.text.segment(iterated)
    wanted = len(target.elts) if isinstance(target, ast.Tuple) else 0
    if case.match["count"] not in (None, str(wanted)) or not wanted or len(data) > _LONGEST:
        return ""
    held = case.held.get(ast.unparse(iterated))
    is_dict = held is not None and held.size >= 0 and bool(held.keys)
    if isinstance(iterated, ast.Dict) or is_dict:
        return (
            f"The loop on line {case.line} goes over a dict, which gives its keys alone, and it "
            f"has {wanted} names for each. Write {data}.items() to get pairs of a key and its "
            f"value."
        )
    if single := case.match["single"]:
        return (
            f"Line {case.line} gives each element of {data} {wanted} names, and one of them is a "
            f"single {single.rpartition('.')[2]}. Give it one name; "
            f"for i, x in enumerate({data}): gives its number, too."
        )
    return (
        f"Line {case.line} gives each element of {data} {wanted} names, and one of them has not "
        f"{wanted} parts; a tensor is cut into its rows then. Give it a single name to look at "
        f"what an element is. A dataset of pairs is made by from_tensor_slices((x, y))."
    )


PAIRING = ("enumerate", "items")
"""They give pairs: of a number and an element, of a key and a value."""
_LONGEST = 40
"""The letters of an expression that stands in a sentence."""


def no_labels(case: Case) -> str:
    """``fit`` of a compiled model without labels: Keras 3 compares None with the predictions."""
    for call in case.calls:
        is_given = len(call.args) > 1 or any(each.arg == "y" for each in call.keywords)
        if called_name(call) in ("fit", "evaluate", "train_on_batch") and not is_given:
            return (
                f"{called_name(call)} on line {case.line} got no labels that its loss could "
                f"compare the predictions with. Give them as second argument, model.fit(x, y), or "
                f"a dataset whose elements are pairs of inputs and labels."
            )
    return ""
