"""Which module an error happened in, said in a note below the message of the error: ``module  layers.0: Linear(…)``.

A note leaves the type, the arguments and `str` of an error as they are, so programs that look at these see no
difference. Tracebacks show the note. It works for every error, also for those of the program's own classes.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

from ....foundations.errors import note

__all__ = ["name_module"]

_BEGINNING = "  module  "


def name_module(error: Exception) -> None:
    """Add the note to an error that leaves the call of a module. The caller is that call, in its ``except``.

    Only the innermost call in the traceback adds the note. It takes the place of a former note. There is no note
    about a module that no other module holds and that has no settings: the traceback shows this module.
    """
    call = sys._getframe(1)
    if _came_through(error, call):
        return
    text = described(_modules_of(call))
    if hasattr(error, "__notes__"):
        error.__notes__ = [line for line in error.__notes__ if not line.startswith(_BEGINNING)]
    if text:
        note(error, "module", text)


def _came_through(error: Exception, call: FrameType) -> bool:
    """Whether an error came from a call of a module inside this one."""
    step = error.__traceback__
    while step is not None:
        if step.tb_frame is not call and step.tb_frame.f_code is call.f_code:
            return True
        step = step.tb_next
    return False


def _modules_of(call: FrameType) -> list[Any]:
    """The modules that are being called, the outermost first."""
    code: CodeType = call.f_code
    found = []
    frame: FrameType | None = call
    while frame is not None:
        if frame.f_code is code:
            found.append(frame.f_locals["self"])
        frame = frame.f_back
    return found[::-1]


def described(modules: list[Any]) -> str:
    """``layers.0: Linear(in_features=3, …)`` for the last of these modules, of which each called the next.

    The path begins below the module that holds all that follow it. A module that no other holds has only settings, and
    the text is empty if there are none.
    """
    path: list[str] = []
    for outer, inner in pairwise(modules):
        if inner is not outer:
            name = _name_below(outer, inner)
            path = [] if name is None else [*path, name]
    name = ".".join(path)
    text = _text(modules[-1])
    return f"{name}: {text}" if name else text if "(" in text else ""


def _name_below(outer: Any, inner: Any) -> str | None:
    """The name by which a module holds another, at any depth; None if it does not."""
    waiting, seen = [("", outer)], {id(outer)}
    for prefix, module in waiting:
        for name, child in vars(module).get("_modules", {}).items():
            if child is inner:
                return f"{prefix}{name}"
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                waiting.append((f"{prefix}{name}.", child))
    return None


def _text(module: Any) -> str:
    """The name of the class and, for a layer without submodules, its settings in one line."""
    name: str = type(module).__name__
    try:
        settings = "" if vars(module).get("_modules") else module.extra_repr()
    except Exception:                                     # the program's own method, in a module that is not whole
        settings = ""
    return f"{name}({settings})" if settings and "\n" not in settings else name
