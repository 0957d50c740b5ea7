"""Graphs as a gradient tape would give them, made without TensorFlow: name → networkx graph."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import networkx as nx


class Sketch:
    """Ops added one after the other, as a snippet would run them."""

    def __init__(self) -> None:
        self.graph = nx.MultiDiGraph()
        self.inputs: dict[str, list[str]] = {}

    def op(self, kind: str, *inputs: str, weight: float = 1.0) -> str:
        name = f"{kind}_{len(self.graph)}"
        width = float(min(190, max(60, 40 + 9 * len(kind) + 13 * (len(self.graph) % 4))))
        height = (30.0, 38.0, 44.0, 52.0)[sum(map(ord, kind)) % 4]
        self.graph.add_node(name, width=width, height=height)
        for tensor in inputs:
            self.graph.add_edge(tensor, name, weight=weight)
        self.inputs[name] = list(inputs)
        return name

    def variable(self, kind: str = "Variable") -> str:
        return self.op(kind)

    def backward(self, target: str, sources: list[str]) -> list[str]:
        """Gradient ops in reverse, each fed by the gradient above and the other operands."""
        order = list(self.graph)
        reached = nx.ancestors(self.graph, target) | {target}
        wanted = set(sources)
        for node in order:
            if wanted & set(self.inputs[node]):
                wanted.add(node)
        shares: dict[str, list[str]] = {target: [self.op("OnesLike", target)]}
        for node in reversed([n for n in order if n in reached & wanted]):
            parts = shares.get(node, [])
            if not parts or node in sources:
                continue
            gradient = parts[0] if len(parts) == 1 else self.op("AddN", *parts)
            shares[node] = [gradient]
            operands = self.inputs[node]
            for place, operand in enumerate(operands):
                if operand in wanted:
                    others = [o for k, o in enumerate(operands) if k != place][:1]
                    if len(operands) == 1 and node.startswith(("Tanh", "Sigmoid", "Relu")):
                        others = [node]
                    step = self.op(node.split("_")[0] + "Grad", gradient, *others)
                    shares.setdefault(operand, []).append(step)
        ends = []
        for source in sources:
            parts = shares.get(source, [])
            if len(parts) > 1:
                parts = [self.op("AddN", *parts)]
            ends.extend(parts)
        return ends


def mlp(depth: int, *, backward: bool = False, adam: bool = False) -> nx.MultiDiGraph:
    sketch = Sketch()
    hidden, label = sketch.op("Input"), sketch.op("Const")
    variables = []
    for _ in range(depth):
        kernel, bias = sketch.variable("Kernel"), sketch.variable("Bias")
        variables += [kernel, bias]
        hidden = sketch.op("MatMul", hidden, kernel)
        hidden = sketch.op("Relu", sketch.op("BiasAdd", hidden, bias))
    loss = sketch.op("Mean", sketch.op("Square", sketch.op("Sub", hidden, label)))
    if backward:
        ends = sketch.backward(loss, variables)
        if adam:
            rate = sketch.op("Const")
            for variable, gradient in zip(variables, ends, strict=True):
                momentum = sketch.op(
                    "AddV2", sketch.op("Mul", sketch.variable("m"), rate), gradient
                )
                step = sketch.op("Mul", momentum, rate)
                sketch.op("AssignSub", variable, step)
    return sketch.graph


def residual(blocks: int, *, backward: bool = False) -> nx.MultiDiGraph:
    sketch = Sketch()
    hidden = sketch.op("Input")
    kernels = []
    for _ in range(blocks):
        kernel = sketch.variable("Kernel")
        kernels.append(kernel)
        branch = sketch.op("Relu", sketch.op("Conv2D", hidden, kernel))
        branch = sketch.op("BiasAdd", branch, sketch.variable("Bias"))
        hidden = sketch.op("AddV2", branch, hidden)
    loss = sketch.op("Sum", hidden)
    if backward:
        sketch.backward(loss, kernels)
    return sketch.graph


def chain(length: int) -> nx.MultiDiGraph:
    sketch = Sketch()
    hidden = sketch.variable()
    for k in range(length):
        hidden = sketch.op(("Sin", "Exp", "Tanh", "ExpandDims")[k % 4], hidden)
    return sketch.graph


def fan_out(width: int) -> nx.MultiDiGraph:
    """One variable read by many ops, all joined pairwise again."""
    sketch = Sketch()
    ends = [sketch.variable()]
    ends = [sketch.op("Mul", ends[0], sketch.op("Const")) for _ in range(width)]
    while len(ends) > 1:
        joined = [sketch.op("AddV2", *ends[i : i + 2]) for i in range(0, len(ends), 2)]
        ends = joined
    return sketch.graph


def norm_of_variables(count: int) -> nx.MultiDiGraph:
    sketch = Sketch()
    squares = [sketch.op("Sum", sketch.op("Square", sketch.variable())) for _ in range(count)]
    sketch.op("Sqrt", sketch.op("AddN", *squares))
    return sketch.graph


def assign_cut() -> nx.MultiDiGraph:
    sketch = Sketch()
    patch, x = sketch.variable("patch"), sketch.variable("x")
    after = sketch.op("x_after", sketch.op("StridedSliceAssign", patch, x))
    y = sketch.op("MatMul", sketch.op("Transpose", after, weight=3.0), after, weight=3.0)
    sketch.op("Mean", y, weight=3.0)
    return sketch.graph


def lstm(steps: int, *, backward: bool = False) -> nx.MultiDiGraph:
    sketch = Sketch()
    hidden, cell = sketch.op("Zeros"), sketch.op("Zeros")
    kernel, recurrent, bias = (sketch.variable(k) for k in ("Kernel", "Recurrent", "Bias"))
    for _ in range(steps):
        x = sketch.op("Input")
        z = sketch.op(
            "AddV2", sketch.op("MatMul", x, kernel), sketch.op("MatMul", hidden, recurrent)
        )
        z = sketch.op("BiasAdd", z, bias)
        split = sketch.op("Split", z)
        i, f, o = (sketch.op("Sigmoid", split) for _ in range(3))
        candidate = sketch.op("Tanh", split)
        cell = sketch.op("AddV2", sketch.op("Mul", f, cell), sketch.op("Mul", i, candidate))
        hidden = sketch.op("Mul", o, sketch.op("Tanh", cell))
    loss = sketch.op("Mean", sketch.op("Square", hidden))
    if backward:
        sketch.backward(loss, [kernel, recurrent, bias])
    return sketch.graph


def attention(heads: int, *, backward: bool = False) -> nx.MultiDiGraph:
    sketch = Sketch()
    x = sketch.op("Input")
    results, variables = [], []
    for _ in range(heads):
        q, k, v = (sketch.variable(name) for name in ("Wq", "Wk", "Wv"))
        variables += [q, k, v]
        query, key, value = (sketch.op("MatMul", x, w) for w in (q, k, v))
        scores = sketch.op("RealDiv", sketch.op("MatMul", query, key), sketch.op("Const"))
        results.append(sketch.op("MatMul", sketch.op("Softmax", scores), value))
    joined = sketch.op("ConcatV2", *results)
    residual_sum = sketch.op("AddV2", x, joined)
    mean = sketch.op("Mean", residual_sum)
    centred = sketch.op("Sub", residual_sum, mean)
    scale = sketch.op("Rsqrt", sketch.op("Mean", sketch.op("Square", centred)))
    loss = sketch.op("Sum", sketch.op("Mul", centred, scale))
    if backward:
        sketch.backward(loss, variables)
    return sketch.graph


def nested_tapes() -> nx.MultiDiGraph:
    sketch = Sketch()
    x = sketch.variable("x")
    y = sketch.op("Mul", sketch.op("Mul", x, x), x)
    (first,) = sketch.backward(y, [x])
    sketch.backward(first, [x])
    return sketch.graph


def random_dag(count: int, degree: float, seed: int, reach: int = 12) -> nx.MultiDiGraph:
    """Each node reads nodes shortly before it, now and then one from far back."""
    source = random.Random(seed)
    graph = nx.MultiDiGraph()
    for k in range(count):
        graph.add_node(
            f"n{k}", width=float(source.randint(60, 190)), height=float(source.randint(30, 52))
        )
        for _ in range(min(k, int(source.random() * degree * 2 + 0.5))):
            back = source.randint(1, reach) if source.random() < 0.9 else source.randint(1, k)
            graph.add_edge(f"n{max(0, k - back)}", f"n{k}")
    return graph


TAPES: dict[str, Callable[[], nx.MultiDiGraph]] = {
    "assign cut": assign_cut,
    "nested tapes": nested_tapes,
    "chain 12": lambda: chain(12),
    "mlp 1": lambda: mlp(1),
    "mlp 3": lambda: mlp(3),
    "mlp 2 gradient": lambda: mlp(2, backward=True),
    "mlp 4 gradient": lambda: mlp(4, backward=True),
    "mlp 4 adam": lambda: mlp(4, backward=True, adam=True),
    "mlp 10 adam": lambda: mlp(10, backward=True, adam=True),
    "residual 3": lambda: residual(3),
    "residual 12": lambda: residual(12),
    "residual 5 gradient": lambda: residual(5, backward=True),
    "residual 16 gradient": lambda: residual(16, backward=True),
    "fan-out 6": lambda: fan_out(6),
    "fan-out 16": lambda: fan_out(16),
    "norm of 8": lambda: norm_of_variables(8),
    "norm of 24": lambda: norm_of_variables(24),
    "lstm 2": lambda: lstm(2),
    "lstm 5": lambda: lstm(5),
    "lstm 3 gradient": lambda: lstm(3, backward=True),
    "lstm 7 gradient": lambda: lstm(7, backward=True),
    "attention 2": lambda: attention(2),
    "attention 2 gradient": lambda: attention(2, backward=True),
    "attention 6 gradient": lambda: attention(6, backward=True),
    "random 10": lambda: random_dag(10, 1.2, 1),
    "random 30": lambda: random_dag(30, 1.2, 2),
    "random 60": lambda: random_dag(60, 1.3, 3),
    "random 100 sparse": lambda: random_dag(100, 1.05, 4),
    "random 200": lambda: random_dag(200, 1.1, 5, reach=20),
    "random 300 sparse": lambda: random_dag(300, 0.9, 6, reach=15),
}


def all_tapes(limit: int = 10**6) -> Iterator[tuple[str, nx.MultiDiGraph]]:
    for name, make in TAPES.items():
        graph = make()
        if len(graph) <= limit:
            yield name, graph
