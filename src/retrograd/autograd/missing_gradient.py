"""Why a `.grad` is None, said in notes below Python's error about None: "'NoneType' object has no attribute 'zero_'".

The error is Python's own, and no function of this package takes part in it. So the notes are added when the error is
shown: the expression that failed is read in the program's source, and its variables are looked up without running
anything. This module is imported for such an error only.
"""

from __future__ import annotations

import ast
import linecache
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from ..foundations.errors import OWN, noted
from ..tensors.state.base import TensorBase

__all__ = ["add_notes"]

_UPDATES = ("SubBackward0", "AddBackward0")          # of `w = w - rate * w.grad`, a step that makes another tensor


def add_notes(error: BaseException, trace: TracebackType | None) -> None:
    """Add the notes, if the expression that failed names the gradient of a tensor that has none."""
    step = None
    while trace is not None:
        step = step if trace.tb_frame.f_code.co_filename.startswith(OWN) else trace
        trace = trace.tb_next
    if step is None:
        return
    for node in ast.walk(_failed(step)):
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            tensor = _value(node.value, step.tb_frame)
            if isinstance(tensor, TensorBase) and (tensor._grad_meta is None or tensor._grad_meta.grad is None):
                noted(error, "backward#gradient-is-none", **_reason(ast.unparse(node.value), tensor))


def _reason(name: str, tensor: Any) -> dict[str, str]:
    if not tensor.requires_grad:
        return {"because": f"{name}.grad is None: {name} does not require grad. It was made so, or detached, or "
                           "computed under torch.no_grad()"}
    if not tensor.is_leaf:
        return {"because": f"{name}.grad is None: {name} is no leaf, but was computed by {tensor.grad_fn.name()}",
                "instead": (f"if {name} is a parameter, write the step to it under torch.no_grad(): {name} -= ...; "
                            "otherwise " * (tensor.grad_fn.name() in _UPDATES)
                            + f"call {name}.retain_grad() before backward()")}
    return {"because": f"{name}.grad is None: no pass has reached {name} since it was made, or since zero_grad()",
            "instead": f"call backward() on a result that was computed from {name}"}


def _failed(step: TracebackType) -> ast.AST:
    """The expression or the statement that the failed instruction belongs to; an empty program if it is not known."""
    code = step.tb_frame.f_code
    position = next(islice(code.co_positions(), step.tb_lasti // 2, None), None)
    if position is None or None in position:
        return ast.Module([], [])
    first, last, start, end = position
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(first or 0, (last or 0) + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = b"".join(lines).decode(errors="replace")
    for source in (f"({text})", text):                   # an expression may go over several lines; a write is none
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            pass
    return ast.Module([], [])


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The value of names, attributes and constant indices, found without calling anything; None for all else."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        own = getattr(_value(node.value, frame), "__dict__", {})
        spaces = [own, *[own[kind] for kind in ("_parameters", "_buffers", "_modules") if kind in own]]
        return next((space[node.attr] for space in spaces if node.attr in space), None)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        holder, key = _value(node.value, frame), node.slice.value
        if type(holder) in (list, tuple, dict):
            held = holder if type(holder) is dict else dict(enumerate(holder))
            return held.get(key)
        return getattr(holder, "__dict__", {}).get("_modules", {}).get(str(key))
    return None
