"""torch.func.rearrange gives PyTorch's shapes, numbers and errors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

PATTERNS: list[tuple[str, dict[str, int]]] = [
    ("a b c -> c b a", {}), ("a b c -> (a b) c", {}), ("a b (c d) -> a b c d", {"c": 2}),
    ("a b (c d) -> a b c d", {"d": 2}), ("a b (c d) -> (c a) (b d)", {"c": 2}), ("... c -> c ...", {}),
    ("a ... -> ... a", {}), ("a ... -> (...) a", {}), ("a ... -> (... a)", {}), ("(a ...) b -> a", {}),
    ("a b c -> a 1 b c", {}), ("a b c -> a () b c", {}), ("a b c -> (a b c)", {}), ("a b c->a b c", {}),
    ("a b -> a b", {}), ("a b c d ... -> a b c d ...", {}), ("a b c -> a b", {}), ("a b c -> a b c d", {}),
    ("a b c", {}), ("a b c -> a -> b", {}), ("a a c -> a c", {}), ("a b (c d) -> a b c d", {}),
    ("a b (c d) -> a b c d", {"c": 3}), ("a b c -> c b a", {"a": 3}), ("a b c -> c b a", {"q": 3}),
    ("a b (c (d)) -> a b c d", {}), ("a b (c -> a b c", {}), ("a b c) -> a b c", {}), ("a b 2 -> a b", {}),
    ("a b ... ... -> a b", {}), ("a b c -> a b c ...", {}), ("a-b c -> a b c", {}), ("_a b c -> _a b c", {}),
    ("a b c_ -> a b c_", {}), ("a b c -> b (a c) 1 1", {}), ("a (b1 b2) c -> a b1 b2 c", {"b1": 1}),
    ("a . c -> a c", {}), ("... -> ... 1", {}), ("a b _ -> a b _", {}), ("a b c -> a (b) c", {}), ("1 -> 1", {}),
    ("a b (c 1) -> a b c", {}), ("a b (c d) -> a b c d", {"c": 2, "d": 3}), ("Q b c -> b Q c", {}),
]


def said(module: Any, pattern: str, sizes: dict[str, int], *, several: bool = False) -> Any:
    x = module.arange(24.0).reshape(2, 3, 4)
    try:
        found = module.func.rearrange([x, x] if several else x, pattern, **sizes)
    except Exception as error:
        return type(error).__name__, str(error).split(" two dimensions at once")[0].split(" dimension pack")[0]
    return found.tolist(), found.is_contiguous()


@pytest.mark.parametrize(("pattern", "sizes"), PATTERNS)
def test_a_pattern_gives_the_result_of_pytorch(pattern: str, sizes: dict[str, int]) -> None:
    assert said(retrograd, pattern, sizes) == said(torch, pattern, sizes)


def test_a_list_is_a_first_dim_and_gradients_and_batches_pass() -> None:
    several = "l a b c -> (l a) b c"
    assert said(retrograd, several, {}, several=True) == said(torch, several, {}, several=True)
    for module in (retrograd, torch):
        x = module.arange(6.0).reshape(2, 3).requires_grad_()
        (module.func.rearrange(x, "a b -> (b a)") * module.arange(6.0)).sum().backward()
        assert x.grad.tolist() == [[0, 2, 4], [1, 3, 5]]
    batch = retrograd.vmap(lambda t: retrograd.func.rearrange(t, "a b -> (b a)"))(retrograd.ones(2, 3, 4))
    assert batch.shape == (2, 12)
    assert retrograd.func.rearrange(retrograd.ones(()), "... -> 1 ...").shape == ()
    with pytest.raises(Exception, match=r"Dimension sizes to do not match \(2 != 1\)"):
        retrograd.func.rearrange(retrograd.ones(2, 2), "1 b -> b")
