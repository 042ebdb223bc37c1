"""Which module an error happened in, said in a note below the message: ``module  model.layers[0]: Linear(…)``.

A note leaves the type, the arguments and `str` of an error as they are, so programs that look at these see no
difference. Tracebacks show the note. It works for every error, also for those of the program's own classes.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

from ....foundations.errors import note, outside
from ....foundations.names import reached

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
    text, outer = _described(_calls_up_from(call))
    if hasattr(error, "__notes__"):
        error.__notes__ = [line for line in error.__notes__ if not line.startswith(_BEGINNING)]
    if text:
        note(error, "module", text)
    if outer is not None:
        for label, fact in reached("nn.modules.module.unregistered").about_unregistered(outer).items():
            note(error, label, fact)


def _came_through(error: Exception, call: FrameType) -> bool:
    """Whether an error came from a call of a module inside this one."""
    step = error.__traceback__
    while step is not None:
        if step.tb_frame is not call and step.tb_frame.f_code is call.f_code:
            return True
        step = step.tb_next
    return False


def _calls_up_from(call: FrameType) -> list[FrameType]:
    """The calls of modules that are running, the outermost first."""
    code: CodeType = call.f_code
    found = []
    frame: FrameType | None = call
    while frame is not None:
        if frame.f_code is code:
            found.append(frame)
        frame = frame.f_back
    return found[::-1]


def _described(calls: list[FrameType]) -> tuple[str, Any]:
    """``model.layers[0]: Linear(in_features=3, …)`` for the last of these calls, of which each made the next.

    The path begins with the module that holds all that follow it, by the name that its caller has for it. A module that
    no other holds has only settings, and the text is empty if there are none. If a module on the path stands in a list
    of the one before and is not registered there, the one before is returned, too.
    """
    path, start, hiding = "", calls[0], None
    for before, after in pairwise(calls):
        outer, inner = before.f_locals["self"], after.f_locals["self"]
        if inner is not outer:
            step = _path_below(outer, inner)
            if not step:
                place = reached("nn.modules.module.unregistered").place_in_container(outer, inner)
                step, hiding = (f".{place}", outer) if place else ("", hiding)
            path, start = (path + step, start) if step else ("", after)
    text, first = _text(calls[-1].f_locals["self"]), start.f_locals["self"]
    if not path and "(" not in text:
        return "", None
    name = _name_of(first, outside(start.f_back)) or (type(first).__name__ if path else "")
    return f"{name}{path}: {text}" if name else text, hiding


def _name_of(module: Any, frame: FrameType | None) -> str:
    """The name that a function has for a module: `model`, or `self.model`; '' if there is none.

    Names with an underscore in front are left out: in a notebook, `_` is what a cell has shown.
    """
    if frame is None:
        return ""
    for names in (frame.f_locals, frame.f_globals):
        for name, value in names.items():
            if value is module and not name.startswith("_"):
                return name
    for name, value in getattr(frame.f_locals.get("self"), "__dict__", {}).items():
        if value is module:
            return f"self.{name}"
    return ""


def _path_below(outer: Any, inner: Any) -> str:
    """The path by which a module holds another, at any depth, such as ``.layers[0]``; '' if it does not."""
    waiting, seen = [("", outer)], {id(outer)}
    for prefix, module in waiting:
        for name, child in vars(module).get("_modules", {}).items():
            path = f"{prefix}[{name}]" if name.isdigit() else f"{prefix}.{name}"
            if child is inner:
                return path
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                waiting.append((path, child))
    return ""


def _text(module: Any) -> str:
    """The name of the class and, for a layer without submodules, its settings in one line."""
    name: str = type(module).__name__
    try:
        settings = "" if vars(module).get("_modules") else module.extra_repr()
    except Exception:                                     # the program's own method, in a module that is not whole
        settings = ""
    return f"{name}({settings})" if settings and "\n" not in settings else name
