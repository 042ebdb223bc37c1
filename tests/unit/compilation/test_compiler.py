"""Marks for a compiler leave programs as they are."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch


def doubled(x: Any) -> Any:
    return x * 2


def test_nothing_is_compiled() -> None:
    compiler = torch.compiler
    assert not any((compiler.is_compiling(), compiler.is_dynamo_compiling(), compiler.is_exporting()))
    assert compiler.list_backends() == ["cudagraphs", "inductor", "openxla", "tvm"]
    assert "eager" in compiler.list_backends(None)
    assert compiler.set_enable_guard_collectives(True) is False
    compiler.reset()
    compiler.cudagraph_mark_step_begin()


def test_marks_leave_functions_as_they_are() -> None:
    compiler = torch.compiler
    for marked in (compiler.disable(doubled), compiler.disable(recursive=False)(doubled),
                   compiler.allow_in_graph([doubled])[0], compiler.assume_constant_result(doubled),
                   compiler.nested_compile_region(doubled), compiler.nested_compile_region()(doubled),
                   compiler.set_stance("force_eager")(doubled)):
        assert marked(3) == 6
        assert marked.__name__ == "doubled"
    assert compiler.disable(int) is int
    assert str(compiler.disable(torch.nn.ReLU())) == "OptimizedModule(\n  (_orig_mod): ReLU()\n)"
    with compiler.set_stance("eager_on_recompile"):
        assert doubled(2) == 4


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(AssertionError, match="^fn must be callable$"):
        torch.compiler.disable(3)
    with pytest.raises(AssertionError, match="^allow_in_graph expects a callable$"):
        torch.compiler.allow_in_graph(3)
