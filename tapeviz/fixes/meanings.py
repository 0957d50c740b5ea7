"""Names that an import or an assignment binds to something of TensorFlow or NumPy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import libcst as cst

from .nodes import BINDING, KnownName, all_of, dotted, nodes_in, pairs_of, targets_of

TENSORFLOW = ("tensorflow", "tensorflow.compat.v2", "tensorflow.compat.v1")
_KERAS_ROOTS = ("keras.", "tf_keras.")


def module_name(module: cst.Module, paths: Sequence[str], usual: str) -> str:
    """The text's name for a module."""
    for line in all_of(module, cst.Import):
        for alias in line.names:
            if dotted(alias.name) in paths:
                name = alias.asname.name if alias.asname else alias.name
                return dotted(name)
    return usual


def meanings_of(module: cst.Module, tf: str, np: str) -> Mapping[str, str]:
    """Maps the names that an import or a plain assignment (``rnd = tf.round``) binds, and nothing
    else does, to the paths that they mean."""
    found: dict[str, str] = {}
    bound: Counter[str] = Counter()

    def path_of(full: str) -> str:
        full = f"tensorflow.{full}" if full.startswith(_KERAS_ROOTS) else full
        full = full.replace("tensorflow.tf_keras.", "tensorflow.keras.")
        for root, name in (*((path, tf) for path in reversed(TENSORFLOW)), ("numpy", np)):
            if full.startswith(f"{root}."):
                return f"{name}.{full.removeprefix(f'{root}.')}"
        return full

    for node in nodes_in(module):
        if isinstance(node, cst.Import):
            for alias in node.names:
                if alias.asname is not None and dotted(alias.name) not in (*TENSORFLOW, "numpy"):
                    found[dotted(alias.asname.name)] = path_of(dotted(alias.name))
        elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                local = alias.asname.name if alias.asname else alias.name
                origin = dotted(node.module) if node.module is not None else ""
                if origin and not node.relative:
                    found[dotted(local)] = path_of(f"{origin}.{dotted(alias.name)}")
                bound[dotted(local)] += alias.asname is None  # else its AsName counts
        elif isinstance(node, (cst.Param, cst.FunctionDef, cst.ClassDef)):
            bound[node.name.value] += 1
        elif isinstance(node, (*BINDING, cst.CompFor, cst.AsName)):
            targets = targets_of(node.name if isinstance(node, cst.AsName) else node.target)
            bound.update(targets)
    for assign in all_of(module, cst.Assign):
        for target, value in pairs_of(assign.targets[0].target, assign.value):
            root, _, rest = dotted(value).partition(".")
            if isinstance(target, cst.Name) and rest and (root in (tf, np) or root in found):
                found[target.value] = f"{found.get(root, root)}.{rest}"
    known = (tf, np, "math", "scipy", "statistics")
    return {
        name: path
        for name, path in found.items()
        if bound[name] == 1 and path.partition(".")[0] in known and name != path
    }


def with_meanings(module: cst.Module, meanings: Mapping[str, str]) -> cst.Module:
    """The module with a :class:`KnownName` for each name that is read as one."""
    if not meanings:
        return module
    changed = module.visit(_Marker(meanings))
    assert isinstance(changed, cst.Module)
    return changed


class _Marker(cst.CSTTransformer):
    def __init__(self, meanings: Mapping[str, str]) -> None:
        super().__init__()
        self._meanings = meanings

    def visit_ImportAlias(self, node: cst.ImportAlias) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> Any:
        return self._marked(updated_node, "value")

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> Any:
        return self._marked(updated_node, "func")

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> Any:
        return self._marked(updated_node, "value")

    def leave_Decorator(self, original_node: cst.Decorator, updated_node: cst.Decorator) -> Any:
        return self._marked(updated_node, "decorator")

    def _marked(self, node: Any, field: str) -> Any:
        name = getattr(node, field)
        if not isinstance(name, cst.Name) or name.value not in self._meanings:
            return node
        meant = self._meanings[name.value]
        return node.with_changes(**{field: KnownName(name.value, name.lpar, name.rpar, meant)})
