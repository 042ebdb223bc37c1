"""Marks for a compiler do the same with both packages."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check

SETUP = """
def f(x): return x * 2
x = torch.ones(2, requires_grad=True)
compiler = torch.compiler
"""


@pytest.mark.parametrize("expression", [
    "compiler.is_compiling()", "compiler.is_dynamo_compiling()", "compiler.is_exporting()", "compiler.reset()",
    "compiler.list_backends()", "compiler.disable(f)(x)", "compiler.disable()(f)(x)",
    "compiler.disable(f, recursive=False)(x)", "compiler.disable(f) is f", "compiler.disable(f).__name__",
    "compiler.disable(f, reason='none')(x)", "compiler.disable(torch.nn.ReLU())(x)",
    "str(compiler.disable(torch.nn.ReLU()))", "compiler.disable(3)", "compiler.allow_in_graph(f) is f",
    "compiler.allow_in_graph([f])[0] is f", "compiler.allow_in_graph(3)", "compiler.assume_constant_result(f) is f",
    "compiler.cudagraph_mark_step_begin()", "compiler.set_enable_guard_collectives(False)",
    "compiler.set_stance('force_eager')(f)(x)", "compiler.set_stance('default').__enter__()",
    "compiler.nested_compile_region(f)(x)", "compiler.compile(f, backend='quick')",
])
def test_the_same_is_seen(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)
    torch.compiler.set_stance("default")
