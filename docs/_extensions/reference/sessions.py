"""Sessions made of calls: lines of Python, each with what it shows when it is run.

The calls are the calls of the table of operators (`recorded`), the calls of modules that the tests make wrong calls of,
and the calls in `calls.txt`. A session is made while the page is made, so that the page shows real results.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import retrograd
from comparing import module_calls
from reference import recorded

LISTED = Path(__file__).with_name("calls.txt")
LONGEST = 14        # the most lines that one call may show
_SEED = "_ = torch.manual_seed(0)"


def example(path: str) -> str:
    """The session of a function or class, '' if there is no call of it. Raises what a program of `calls.txt` raises."""
    if path in listed():
        return session(tuple(listed()[path]))
    for lines in _ways(path):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return session(tuple(lines))
        except Exception:       # what these lines call does not take them
            continue
    return ""


def _ways(path: str) -> Iterator[list[str]]:
    """The programs that may show a function, the best one first."""
    if call := recorded.calls().get(path):
        yield [*_lines(path, call, True), *_gradients(call)]
        yield _lines(path, call, False)
    base = path.removesuffix("_")
    if base != path and (call := recorded.calls().get(base) or recorded.calls().get(
            base.replace("torch.Tensor.", "torch."))):
        yield _lines(path, call, False)
    if path in modules():
        yield modules()[path]


def _lines(path: str, call: recorded.Call, grads: bool) -> list[str]:
    lines = [f"{name} = {text[:-1]}, requires_grad=True)" if grads and can else f"{name} = {text}"
             for name, text, can in call.tensors]
    name = path.rpartition(".")[2]
    if path.startswith("torch.Tensor."):
        shown = f"{call.arguments[0]}.{name}({', '.join(call.arguments[1:])})"
    else:
        shown = f"{path}({', '.join(call.arguments)})"
    return [*lines, f"result = {shown}", "result"] if grads else [*lines, shown]


def _gradients(call: recorded.Call) -> list[str]:
    return ["result.sum().backward()", ", ".join(f"{name}.grad" for name, _, can in call.tensors if can)]


@cache
def modules() -> dict[str, list[str]]:
    """A program for each module of `nn`: it makes the module and calls it."""
    found = {}
    for name, made_with, called_with in module_calls.modules():
        inputs = re.sub(r"\bf\(", "torch.rand(", called_with)
        inputs = re.sub(r"\bi\(([^)]*)\)", r"torch.randint(2, (\1,))", inputs)
        made = re.sub(r"\bf\(", "torch.rand(", made_with)
        lines = [_SEED, f"module = torch.nn.{name}({made})"]
        result = f"module({inputs})"
        loss = name.endswith("Loss")
        found.setdefault(f"torch.nn.{name}", [*lines, result if loss else f"{result}.shape"])
    return found


@cache
def listed() -> dict[str, list[str]]:
    """The programs of `calls.txt`, by the path of what they show."""
    found = {}
    for line in LISTED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            paths, _, program = line.partition(": ")
            for path in paths.split():
                own = program.replace("{}", path).replace("{name}", path.rpartition(".")[2])
                found[path] = own.replace("¶", "\n").split(" ; ")
    return found


@cache
def session(lines: tuple[str, ...]) -> str:
    """The lines with what they show. Raises what they raise, and ValueError if they show too much or nothing."""
    once = shown(lines, 1)
    # What other processes print does not depend on the seed, and to start them takes a second.
    again = once if any("subprocess" in line for line in lines) else shown(lines, 2)
    if once != again:                                              # random numbers
        lines = (_SEED, *lines)
        once, again = shown(lines, 1), shown(lines, 2)
    if once != again or not any(said for _, said in once):
        raise ValueError("nothing to show, or another result each time")
    if any(said.count("\n") >= LONGEST or " at 0x" in said for _, said in once):
        raise ValueError("too long for a page")
    return "\n".join(part for line, said in once for part in (_prompted(line), *([said] if said else [])))


def _prompted(statement: str) -> str:
    """A statement behind the prompts of a session, as Python's prompt shows them. An empty line would end it."""
    first, *more = statement.splitlines()
    return "\n".join([f">>> {first}", *[f"... {line}".rstrip() for line in more]])


def shown(lines: Iterable[str], seed: int, package: Any = retrograd) -> list[tuple[str, str]]:
    """Each line with what it shows if `package` is torch.

    The seed is for lines that draw random numbers without a seed of their own.
    """
    scope: dict[str, Any] = {"torch": package, "retrograd": retrograd}
    found = []
    with package.random.fork_rng(), warnings.catch_warnings():
        package.manual_seed(seed)
        for line in lines:
            printed = io.StringIO()
            (statement,) = ast.parse(line).body          # a prompt takes one statement
            with contextlib.redirect_stdout(printed):
                if isinstance(statement, ast.Expr):
                    value = eval(line, scope)
                    said = "" if value is None else repr(value)
                else:
                    exec(line, scope)
                    said = ""
            found.append((line, (printed.getvalue() + said).rstrip("\n")))
    return found
