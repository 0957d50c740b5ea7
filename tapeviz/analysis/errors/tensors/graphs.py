"""Explanations of errors about symbolic tensors, variables and placeholders of graphs."""

from __future__ import annotations

import ast

from ....text.names import calls_in, dotted, targets_of
from ....text.trees import lines_of
from ..case import Case


def symbolic_truth(case: Case) -> str:
    """Python asks a symbolic tensor whether it is true, in code that AutoGraph does not convert."""
    remedy = "Use tf.cond or tf.where, or leave graph mode."
    ran = [
        function
        for function in case.nodes(ast.FunctionDef)
        if not {case.line, *case.failure.lines}.isdisjoint(lines_of(function))
    ]
    names = {function.name for function in ran}
    makers = [call for each in ran for node in each.decorator_list for call in calls_in(node)]
    makers += [call for call in case.nodes(ast.Call) if names & {*map(dotted, call.args)}]
    for given in (keyword for call in makers for keyword in call.keywords):
        if given.arg == "autograph" and getattr(given.value, "value", None) is False:
            remedy = (
                f"With autograph=False, on line {given.value.lineno}, TensorFlow converts no if or "
                f"while: leave that out, or use tf.cond or tf.where."
            )
    return (
        f"Line {case.line} lets Python decide by a symbolic tensor, which has no value yet. "
        f"In a graph both branches have to be part of it. {remedy}"
    )


def variable_of_each_call(case: Case) -> str:
    """A variable made in a compiled function, often by a layer that is itself made there."""
    said = (
        f"Line {case.line} makes a tf.Variable, itself or in what it calls, as a layer does at its "
        f"first input, and a compiled function may make variables at its first call only. "
    )
    called = {dotted(call.func) for call in case.calls} - {""}
    for function in case.nodes(ast.FunctionDef):
        if case.line not in lines_of(function)[1:]:
            continue
        for assign in ast.walk(function):
            if isinstance(assign, ast.Assign) and isinstance(assign.value, ast.Call):
                names = called.intersection(map(dotted, targets_of(assign)))
                if names and assign.lineno < case.line:
                    return (
                        f"{said}Line {assign.lineno} makes {min(names)} anew whenever "
                        f"{function.name} runs: make it once, outside of {function.name}."
                    )
    return (
        f"{said}Call the layer or make the variable before, or keep it: if self.w is None: "
        f"self.w = tf.Variable(…)."
    )


def out_of_function(case: Case) -> str:
    """A tensor that a compiled function kept in a list or an attribute."""
    made = "".join(f", made on line {line}" for line in case.defining_lines[-1:])
    if "name=scratch_graph" in case.failure.message:  # of compute_output_spec (Keras 3)
        return (
            f"Line {case.line} uses a tensor from the time when Keras built the model{made}. A "
            f"layer is built once, in a graph of its own, which is gone by now. Compute it in "
            f"call, each time that it is needed."
        )
    return (
        f"Line {case.line} uses a tensor from the inside of a tf.function that is done{made}. Such "
        f"a tensor is a part of the function's graph and has no value outside of it. Return it "
        f"from the function, and use what comes back."
    )
