"""One statement changed: every way in which a module could be a little wrong, and how such a change is found again."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    text: str
    """The line on which it begins, without indentation. Numbers move with every edit above; what is written stays."""
    before: str
    after: str
    nth: int
    """Which of those that read the same in this module, from 0."""
    place: tuple[int, int]
    """From which byte of the module to which."""
    placed: str
    """What is written there instead."""

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """Finds the same change in another version of the module."""
        return self.module, self.text, self.before, self.after, self.nth

    def changed(self, source: str) -> str:
        """The module with this one place replaced, everything else to the letter as it was."""
        data, (begin, end) = source.encode(), self.place
        return (data[:begin] + self.placed.encode() + data[end:]).decode()

    @property
    def shown(self) -> str:
        return f"{self.module}:{self.line}: {_short(self.before)}  ->  {_short(self.after)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:87]}..."


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Every mutant of a module, from top to bottom."""
    lines, data, met = source.split("\n"), source.encode(), Counter[tuple[str, str, str]]()
    begins = _line_begins(data)
    made = []
    for node in _meaningful(ast.parse(source)):
        for other in _others(node):
            begin, end = _place(node, begins)
            before, after = data[begin:end].decode(), ast.unparse(ast.fix_missing_locations(other))
            placed = f"({after})" if isinstance(other, ast.expr) else after
            line: int = node.lineno  # type: ignore[attr-defined]
            same = (lines[line - 1].strip(), before, after)
            made.append(Mutant(module, line, *same, met[same], (begin, end), placed))
            met[same] += 1
    return sorted(made, key=lambda mutant: mutant.line)


def _line_begins(data: bytes) -> list[int]:
    begins = [0]
    for line in data.split(b"\n"):
        begins.append(begins[-1] + len(line) + 1)
    return begins


def _place(node: ast.AST, begins: list[int]) -> tuple[int, int]:
    begin: int = begins[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
    end: int = begins[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
    return begin, end


def _meaningful(tree: ast.AST) -> Iterator[ast.AST]:
    """What is carried out: no annotations, no decorators, no words, nothing that only type checkers and logs see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.Expr) and _is_idle(node.value)):
            continue
        if isinstance(node, ast.arg) or _is_annotation(tree, node):
            continue
        yield node
        yield from _meaningful(node)


def _is_idle(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) or ast.unparse(value).startswith("log.")


def _is_annotation(parent: ast.AST, node: ast.AST) -> bool:
    kept = (getattr(parent, "returns", None), getattr(parent, "annotation", None))
    return node in kept or node in getattr(parent, "decorator_list", ())


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What could stand in a node's place and would be wrong."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            yield ast.Compare(node.left, [SWAPS[type(op)]()], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(SWAPS[type(node.op)](), node.values)
        case ast.BinOp() if type(node.op) in SWAPS and not _is_union(node):
            yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as number):
            yield ast.Constant(number + 1)
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Expr():
            yield ast.Pass()


def _is_union(node: ast.BinOp) -> bool:
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in (node.left, node.right))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
