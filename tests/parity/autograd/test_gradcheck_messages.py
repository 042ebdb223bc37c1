"""The error of a failed gradcheck begins with PyTorch's words, in each mode. What retrograd adds comes after them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd


def functions(module: Any) -> dict[str, Callable[..., Any]]:
    """Functions that are wrong in one way each."""
    function = module.autograd.Function

    def made(backward: Any, jvp: Any = None, forward: Any = lambda x: x * x) -> Any:
        def save(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return forward(x)

        parts = {"forward": staticmethod(save), "backward": staticmethod(backward), "jvp": staticmethod(jvp)}
        return type("M", (function,), parts).apply

    half = made(lambda ctx, g: g * ctx.saved_tensors[0], lambda ctx, t: 2 * t * ctx.saved_tensors[0])
    tangent = made(lambda ctx, g: g * 2 * ctx.saved_tensors[0].conj(), lambda ctx, t: t * 3 * ctx.saved_tensors[0])
    second = made(lambda ctx, g: g * 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0].detach(), forward=lambda x: x ** 3)
    looking = made(lambda ctx, g: g * 2 if g.sum().item() else g, lambda ctx, t: t * 2 if t.sum().item() else t,
                   lambda x: x * 2)
    return {"half": half, "tangent": tangent, "second": second, "looking": looking}


FORWARD = {"check_forward_ad": True, "check_backward_ad": False}
Case = tuple[str, Callable[..., Any], str, dict[str, Any]]
CASES: dict[str, Case] = {
    "backward": ("gradcheck", lambda f, a, b, c: (f["half"], a), "", {}),
    "several": ("gradcheck", lambda f, a, b, c: (lambda x, y: (x * 2, f["half"](y) * x), (a, b)), "", {}),
    "complex outputs": ("gradcheck", lambda f, a, b, c: (lambda x: f["half"](x) * (1 + 2j), a), "", {}),
    "complex": ("gradcheck", lambda f, a, b, c: (lambda x: f["half"](x), c), "", {}),
    "cut": ("gradcheck", lambda f, a, b, c: (lambda x: x.detach() * 2, a), "", {}),
    "nan": ("gradcheck", lambda f, a, b, c: (lambda x: (x - x).sqrt(), a), "", {}),
    "forward": ("gradcheck", lambda f, a, b, c: (f["tangent"], a), "", FORWARD),
    "forward, complex": ("gradcheck", lambda f, a, b, c: (f["tangent"], c), "", FORWARD),
    "forward, complex outputs": ("gradcheck", lambda f, a, b, c: (lambda x: f["tangent"](x) * (1 + 2j), a), "",
                                 FORWARD),
    "forward, real part": ("gradcheck", lambda f, a, b, c: (lambda z: f["tangent"](z.real), c), "", FORWARD),
    "forward, both": ("gradcheck", lambda f, a, b, c: (lambda x, z: f["tangent"](x) * z, (a, c)), "", FORWARD),
    "forward, second output": ("gradcheck", lambda f, a, b, c: (lambda z: (z.real, f["tangent"](z)), c), "", FORWARD),
    "forward after backward": ("gradcheck", lambda f, a, b, c: (f["tangent"], a), "", {"check_forward_ad": True}),
    "second order": ("gradgradcheck", lambda f, a, b, c: (f["second"], a, b[0].detach().requires_grad_()), "", {}),
    "batched": ("gradcheck", lambda f, a, b, c: (f["looking"], a), "While computing batched gradients, got: ",
                {"check_batched_grad": True}),
    "batched forward": ("gradcheck", lambda f, a, b, c: (f["looking"], a), "While computing batched gradients, got: ",
                        {**FORWARD, "check_batched_forward_grad": True}),
}


def said(module: Any, case: Case, fast: bool) -> str:
    options = {"dtype": module.float64, "requires_grad": True}
    a, b = module.tensor([1.0, 2.0], **options), module.tensor([[3.0, 4.0], [5.0, 6.0]], **options)
    c = module.tensor([1 + 2j, 3 - 1j], dtype=module.complex128, requires_grad=True)
    name, given, words, flags = case
    args = given(functions(module), a, b, c)
    with warnings.catch_warnings(action="ignore"), pytest.raises(RuntimeError) as caught:
        getattr(module.autograd, name)(*args, fast_mode=fast, **flags)
    assert type(caught.value).__name__ == "GradcheckError"
    return words if str(caught.value).startswith(words) and words else str(caught.value)


def rounded(text: str) -> str:
    """The text with numbers of ten digits, without the nodes of tensors that PyTorch prints."""
    text = re.sub(r",\s*grad_fn=<\w+>", "", text)
    return re.sub(r"\d+\.\d{8,}", lambda number: f"{float(number[0]):.9f}", text)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_error_begins_with_the_words_of_pytorch(name: str, fast: bool) -> None:
    ours, theirs = (rounded(said(module, CASES[name], fast)) for module in (retrograd, torch))
    assert ours == theirs
