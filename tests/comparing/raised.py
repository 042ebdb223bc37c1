"""The messages of the errors that the source raises, and the texts that PyTorch's libraries and modules hold."""

from __future__ import annotations

import ast
import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch

import retrograd

SOURCE = Path(retrograd.__file__).parent
_PYTORCH = Path(torch.__file__).parent
# What stands for a part that is computed.
COMPUTED = "\0"
_ERROR = re.compile(r"\w*(Error|Exception)")
# Between the parts of one string of Python that are written one after the other, and before their first.
_JOINTS = re.compile(r"""["']\s+[rfbu]{0,2}["']""")


class Message(NamedTuple):
    """The text that an error is made with, and the line that makes the error."""

    place: str
    text: str

    def sentences(self) -> list[str]:
        return re.split(r"(?<=[.!?]) +(?=[A-Z`])", self.text)


def _text(node: ast.expr) -> str:
    """The text of an expression, whose computed parts are COMPUTED."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join([_text(part) for part in node.values])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return COMPUTED


def messages() -> Iterator[Message]:
    """The messages of all errors that the source makes with a text of its own, or with a constant of its module."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        constants = {target.id: line.value for line in tree.body if isinstance(line, ast.Assign)
                     for target in line.targets if isinstance(target, ast.Name)}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args and (
                    _ERROR.fullmatch(call.func.id)):
                given = call.args[0]
                given = constants.get(given.id, given) if isinstance(given, ast.Name) else given
                yield Message(f"{path.relative_to(SOURCE)}:{call.lineno}", _text(given))


def texts_of_pytorch() -> str:
    """All texts of PyTorch: of its libraries the strings with a space, and its modules as they are written."""
    found = set()
    for path in [*_PYTORCH.glob("lib/*torch*.so"), *_PYTORCH.glob("lib/*c10*.so")]:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for part in re.finditer(rb"[\t\n\x20-\x7e]{12,}", content):
                if b" " in part[0]:
                    found.add(part[0].decode())
    written = [path.read_text(errors="ignore") for path in _PYTORCH.rglob("*.py")]
    joined = [_JOINTS.sub("", text).replace("\\'", "'").replace('\\"', '"') for text in written]
    return re.sub(r"\s+", " ", "\0".join([*found, *joined]))
