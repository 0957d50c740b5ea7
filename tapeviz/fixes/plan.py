"""Change nodes of a text; everything else stays as it was formatted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import libcst as cst

from .model import Edit, EditFlags
from .nodes import bare, dotted, enclosed, name_reads, nodes_in, sole
from .source import CstStatement, ParsedSource

if TYPE_CHECKING:
    from typing_extensions import Unpack

NodeChange: TypeAlias = "Callable[[Any], cst.CSTNode]"

_SHORT = 16
"""Letters of an expression that may stand in a line several times."""
_NOT_ALWAYS = (cst.Lambda, cst.BaseComp, cst.BooleanOperation, cst.IfExp)


class Plan:
    """Collects changes by nodes of a :class:`ParsedSource` and applies them all at once.

    ``replaced``: the first of them, as :meth:`replace` takes them.
    """

    def __init__(
        self,
        source: ParsedSource,
        replaced: Mapping[cst.CSTNode, cst.CSTNode | str | NodeChange] | None = None,
    ) -> None:
        self.source = source
        self.changes: dict[cst.CSTNode, NodeChange] = {}
        self.removed: set[cst.CSTNode] = set()
        self.put_before: dict[cst.CSTNode, list[CstStatement]] = {}
        self.put_after: dict[cst.CSTNode, list[CstStatement]] = {}
        self.put_first: dict[cst.CSTNode, list[CstStatement]] = {}
        self.put_last: dict[cst.CSTNode, list[CstStatement]] = {}
        self.unwrapped: set[cst.CSTNode] = set()
        self.names_made: set[str] = set()
        for node, new in (replaced or {}).items():
            self.replace(node, new)

    def replace(self, node: cst.CSTNode, new: cst.CSTNode | str | NodeChange) -> None:
        """Replace a node by an expression, or by a function of the node as changed inside.

        The expression gets parentheses where an operator beside it binds tighter.
        """
        if isinstance(new, str):
            new = cst.parse_expression(new)
        if isinstance(new, cst.CSTNode):
            fixed = fitting(self.source, node, new) if isinstance(new, cst.BaseExpression) else new
            self.changes[node] = lambda _: fixed
        else:
            self.changes[node] = new

    def remove(self, statement: cst.CSTNode) -> None:
        self.removed.add(statement)

    def unwrap(self, statement: cst.With | cst.If) -> None:
        """Replace a block by its statements."""
        self.unwrapped.add(statement)

    def split(self, line: cst.CSTNode) -> None:
        """Give each statement of a line, or behind a colon, a line of its own."""
        self.changes[line] = _split

    def before(self, statement: cst.CSTNode, *new: CstStatement | str) -> None:
        self.put_before.setdefault(statement, []).extend(map(self.parse, new))

    def after(self, statement: cst.CSTNode, *new: CstStatement | str) -> None:
        self.put_after.setdefault(statement, []).extend(map(self.parse, new))

    def first(self, block: cst.CSTNode, *new: CstStatement | str) -> None:
        """Put statements at the begin of a compound statement's body."""
        self.put_first.setdefault(block, []).extend(map(self.parse, new))

    def last(self, block: cst.CSTNode, *new: CstStatement | str) -> None:
        self.put_last.setdefault(block, []).extend(map(self.parse, new))

    def named(self, node: cst.BaseExpression, is_read_later: bool = False) -> str:
        """The code of an expression that an edit needs several times, as changed so far.

        What calls something, or is long, is computed once: a statement in front binds it to a name,
        which is read in its place. It stays as it is where no statement is begun by it: in a
        lambda, a comprehension, a condition, the head of a ``while``, or a line of several
        statements.
        ``is_read_later``: by further statements, too.
        """
        source, changed = self.source, self.changed(node)
        code = source.operand(changed)
        calls = any(isinstance(inner, cst.Call) for inner in nodes_in(node))
        statement = self.statement_begun_by(node) if calls or len(code) > _SHORT else None
        if statement is None:
            return code
        name = "" if is_read_later else self._name_bound(node, statement)
        name = name or self.fresh_name("value")
        self.before(statement, f"{name} = {source.code(bare(changed))}")
        self.changes[node] = lambda _: cst.Name(name)
        return name

    def statement_begun_by(self, node: cst.BaseExpression) -> CstStatement | None:
        """The statement that computes an expression each time and before everything else, so that
        a statement in front may do it; None if there is none.

        That is a line with this statement alone, or the ``if`` or ``for`` with it in its head.
        """
        statement = self.source.statement_of(node)
        around = [] if statement is None else [*self.source.ancestors_below(node, statement)]
        is_in_line = sole(statement) is not None
        if isinstance(statement, cst.If):  # an elif has no place in front of it
            is_in_line = not isinstance(self.source.parent(statement), cst.If)
        elif isinstance(statement, cst.For):
            is_in_line = statement.iter in (node, *around)
        is_always = not any(isinstance(each, _NOT_ALWAYS) for each in around)
        return statement if is_in_line and is_always else None

    def fresh_name(self, wanted: str) -> str:
        """This name, or one like it that neither the text nor this plan uses."""
        name, number = wanted, 2
        while name in self.source.names or name in self.names_made:
            name, number = f"{wanted}{number}", number + 1
        self.names_made.add(name)
        return name

    def _name_bound(self, node: cst.BaseExpression, statement: CstStatement) -> str:
        """The name that ``y = f(node)`` binds, if nothing else in it reads that name; or empty."""
        small = sole(statement)
        targets = small.targets if isinstance(small, cst.Assign) else ()
        target = targets[0].target if len(targets) == 1 else None
        inside = set(map(id, nodes_in(node)))
        others = {read.value for read in name_reads(statement) if id(read) not in inside}
        is_free = isinstance(target, cst.Name) and target.value not in others
        if not isinstance(small, cst.Assign) or not is_free or statement in self.put_before:
            return ""
        given = [arg.value for arg in getattr(small.value, "args", ())]
        return dotted(target) if target is not None and node in given else ""

    def parse(self, statement: CstStatement | str) -> CstStatement:
        if isinstance(statement, str):
            config = self.source.module.config_for_parsing
            parsed = cst.parse_statement(statement, config=config)
            assert isinstance(parsed, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
            return parsed
        return without_blank_lines(statement)

    def changed(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """An expression of the text with the changes made."""
        new = node.visit(_EditTransformer(self))
        assert isinstance(new, cst.BaseExpression)
        return new

    def edits(self, title: str, **flags: Unpack[EditFlags]) -> Iterator[Edit]:
        """The edit that makes all changes; nothing if there are none."""
        changed = (self.changes, self.removed, self.unwrapped, self.put_before, self.put_after)
        if any((*changed, self.put_first, self.put_last)):
            yield Edit(title, self.text(), **flags)

    def text(self) -> str:
        """The text with all changes made."""
        changed = self.source.module.visit(_EditTransformer(self))
        assert isinstance(changed, cst.Module)
        return _with_import(self.source, changed.code)


def _with_import(source: ParsedSource, text: str) -> str:
    """The text, with an import of TensorFlow where an edit uses it and the text did not: in front
    of the first import."""
    is_used = re.search(rf"\b{source.tf}\.", text) and source.tf not in source.names
    imports = (s for s in source.statements if isinstance(sole(s), cst.ImportFrom | cst.Import))
    first = next((s for s in imports if not source.code(s).lstrip().startswith("from __")), None)
    if not is_used or first is None or source.parent(first) is not source.module:
        return text
    line = source.code(sole(first) or first).split("\n", 1)[0]
    return text.replace(line, f"import tensorflow as {source.tf}\n{line}", 1)


class _EditTransformer(cst.CSTTransformer):
    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        plan = self.plan
        change = plan.changes.get(original_node)
        new: Any = updated_node if change is None else change(updated_node)
        if original_node in plan.put_first or original_node in plan.put_last:
            first = plan.put_first.get(original_node, [])
            last = plan.put_last.get(original_node, [])
            new = _with_body(new, [*first, *_statements(new.body), *last])
        if _is_idle(new) and not _is_idle(original_node):
            plan.removed.add(original_node)
        if isinstance(new, cst.IndentedBlock) and not new.body:
            new = new.with_changes(body=[cst.parse_statement("pass")])
        return self._placed(original_node, new)

    def _placed(self, original: cst.CSTNode, new: Any) -> Any:
        plan = self.plan
        before = plan.put_before.get(original, [])
        after = plan.put_after.get(original, [])
        if original in plan.unwrapped:
            inside = _statements(new.body)
            inside[0] = _with_leading(inside[0], new.leading_lines)
            return cst.FlattenSentinel([*before, *inside, *after])
        if original in plan.removed:
            if not before and not after:
                return cst.RemoveFromParent()
            kept = [*before, *after]
            leading = getattr(original, "leading_lines", ())
            return cst.FlattenSentinel([_with_leading(kept[0], leading), *kept[1:]])
        if not before and not after:
            return new
        if before:
            before = [_with_leading(before[0], new.leading_lines), *before[1:]]
            new = without_blank_lines(new)
            new = new.with_changes(leading_lines=())
        return cst.FlattenSentinel([*before, new, *after])


def _is_idle(statement: cst.CSTNode) -> bool:
    """Whether a line only says ``x = x``, as ``x = tf.stop_gradient(x)`` does after an edit."""
    assign = sole(statement)
    if not isinstance(assign, cst.Assign) or len(assign.targets) > 1:
        return False
    target, value = assign.targets[0].target, assign.value
    return (
        isinstance(target, cst.Name) and isinstance(value, cst.Name) and target.value == value.value
    )


def _with_leading(statement: Any, leading: Any) -> Any:
    own = [line for line in statement.leading_lines if line.comment is not None]
    return statement.with_changes(leading_lines=[*leading, *own])


def without_blank_lines(statement: CstStatement) -> CstStatement:
    """The statement with the comments above it, but not the blank lines."""
    kept = [line for line in statement.leading_lines if line.comment is not None]
    return statement.with_changes(leading_lines=kept)


def _statements(suite: Any) -> list[Any]:
    return list(_split(suite).body if isinstance(suite, cst.SimpleStatementSuite) else suite.body)


def _with_body(compound: Any, statements: list[Any]) -> Any:
    suite = compound.body
    if isinstance(suite, cst.SimpleStatementSuite):
        suite = cst.IndentedBlock([], header=suite.trailing_whitespace)
    return compound.with_changes(body=suite.with_changes(body=statements))


def _split(line: Any) -> Any:
    bare = [small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) for small in line.body]
    lines = [cst.SimpleStatementLine([small]) for small in bare]
    if isinstance(line, cst.SimpleStatementSuite):
        return cst.IndentedBlock(lines, header=line.trailing_whitespace)
    lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
    lines[-1] = lines[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    return cst.FlattenSentinel(lines)


_ROOMY = (
    cst.Assign,
    cst.AnnAssign,
    cst.Arg,
    cst.Return,
    cst.Expr,
    cst.Element,
    cst.Index,
    cst.Slice,
)


def fitting(
    source: ParsedSource, place: cst.CSTNode, node: cst.BaseExpression
) -> cst.BaseExpression:
    """``node`` as a replacement of ``place``, in parentheses if an operator beside it binds
    tighter."""
    return node if isinstance(source.parent(place), _ROOMY) else enclosed(node)
