"""A wrong use of a number that is traced raises the error that the number itself would raise, to the letter."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import pytest

import retrograd as torch

SOURCES = ("x.sum().item()", "x.sum().tolist()", "(x > 0).sum().item()", "x.mean().item() * 2.5", "len(x)",
           "x.shape[0]", "len(x) * 0.5", "x.sum().detach().numpy()")
USES = (
    "[*n]", "list(n)", "n[0]()", "n()", "n + 'a'", "'a' + n", "n < 'a'", "n.nope", "[1][n]['a']", "n @ []",
    "''.join([n])", "{**n}", "max(n)", "int(n, 5)", "n += []", "n[0] = 1", "a, b = n", "n.x = 1", "del n.x",
    "for _ in n: pass", "1 in n", "n ** 'a'", "divmod(n, 'a')", "sum(n)", "x.view(n, 'a')", "float(n, 1)", "iter(n)",
    "next(n)", "chr(n) + 1", "raise n", "print(*n)", "dict(n)", "isinstance(1, n)", "'%d' % [n]", "range(n, 'a')",
    "round(n, 'a')", "x[n, 'a']", "torch.full((2,), n, dtype=3)", "torch.zeros(n, n)[9, 9, 9]", "[1, 2][n:'a']",
    "f'{n:q}'", "type(n)('a')", "math.sqrt(n, n)", "operator.index(n) + 'a'", "x * sum(n)")


def said(step: Any, size: int) -> tuple[str, str]:
    """The error of a call; "no error" with the result if there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "no error", repr(step(torch.ones(size)))
        except Exception as error:
            return type(error).__name__, str(error)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("caught", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_errors_name_the_type_that_the_program_knows(source: str, caught: bool) -> None:
    body = "    USE\n    return x * 2" if not caught else (
        "    try:\n        USE\n    except Exception as error:\n        raise ValueError(str(error)) from None\n"
        "    return x * 2")
    for use in USES:
        scope: dict[str, Any] = {"torch": torch, "math": math, "operator": operator}
        exec(f"def step(x):\n    n = {source}\n{body.replace('USE', use)}", scope)
        compiled = torch.compile(scope["step"])
        for size in (3, 3, 4, 5):
            assert said(compiled, size) == said(scope["step"], size), use
