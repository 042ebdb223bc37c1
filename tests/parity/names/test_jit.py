"""Programs that script or trace see the same with both packages."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check

SETUP = """
def f(x): return x * 2
f.__module__ = "program"
x = torch.ones(2, requires_grad=True)
class Net(torch.nn.ReLU): pass
from typing import Any, Dict, List, Optional, Tuple, Union
OBJECTS = [1, "a", None, [1], [1, "a"], {1: "a"}, {1: 1, "a": 2}, (1,), (1, "a"), [[1], ["a"]], {1: [1]}, [None],
           x, [x]]
KINDS = [int, List[int], list[str], Dict[int, str], dict[int, int], Tuple[int], Tuple[int, str], Optional[int],
         int | str, Union[List[str], List[int]], Union[int, List[int]], List[List[int]], Dict[int, List[int]],
         List[Optional[int]], (int, List[str]), torch.Tensor, List[torch.Tensor], set[int], bool]
"""


@pytest.mark.parametrize("expression", [
    "torch.jit.trace(f, x)(x).tolist()", "torch.jit.trace(torch.nn.ReLU(), x)(x)",
    "torch.jit.script(torch.nn.ReLU())(x)",
    "torch.jit.ignore(f) is f", "torch.jit.ignore(drop=True)(f) is f", "torch.jit.ignore(3)",
    "torch.jit.unused(f) is f", "torch.jit.export(f) is f", "torch.jit.interface(f)", "torch.jit.annotate(int, 'text')",
    "torch.jit.is_scripting()", "torch.jit.is_tracing()", "torch.jit.script_if_tracing(f)(x)",
    "torch.jit.wait(torch.jit.fork(f, x))", "torch.jit.fork(f, x).wait()", "torch.jit.fork(f, 3).done()",
    "[torch.jit.isinstance(o, k) for o in OBJECTS for k in KINDS]", "torch.jit.isinstance([1], list)",
    "torch.jit.isinstance({}, Dict)", "torch.jit.isinstance([[1]], List[List])", "torch.jit.isinstance(1, [int])",
    "torch.jit.isinstance(1, Any)", "torch.jit.isinstance((1, 2), tuple[int, ...])", "torch.jit.isinstance(1, None)",
    "str(torch.jit.Final)", "torch.jit.trace_module(Net(), [])",
])
def test_the_same_is_seen(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)
