"""Inference tensors inside of transforms: which may be saved for a backward pass, and which may not."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

SETUP = """
with t.inference_mode():
    w, m, i, s = t.tensor([1., 2., 3.]), t.ones(3, 3), t.tensor([0, 1]), t.tensor(2.)
x, y, n = t.tensor([2., 3., 4.]), t.tensor([2., 3., 4.], requires_grad=True), t.tensor([1., 1., 2.])
def made(f):
    with t.inference_mode():
        return f()
class Product(t.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a, b):
        return a * b
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a
def total(f):
    return lambda a: f(a).sum()
"""

FUNCTIONS = {
    "a factor": "lambda a: a * w", "a factor twice": "lambda a: a * w * a", "a factor of itself": "lambda a: w * w + a",
    "a view": "lambda a: a * w.view(3)", "an alias": "lambda a: a * w.detach()", "a clone": "lambda a: a * w.clone()",
    "a result": "lambda a: a * (w + 1)", "a matrix": "lambda a: m @ a", "a bias": "lambda a: t.addmv(w, m, a)",
    "an index": "lambda a: a[i]", "gather": "lambda a: a.gather(0, i)", "where": "lambda a: t.where(w > 1, a, w)",
    "a number": "lambda a: a ** s", "in place": "lambda a: (a * 1).mul_(w)",
    "a custom Function": "lambda a: Product.apply(a, w)",
    "a sum": "lambda a: a + w", "beside a leaf": "lambda a: a * (y * w)",
    "made inside": "lambda a: a * made(lambda: t.ones(3))", "computed inside": "lambda a: a * made(lambda: w * 2)",
    "of an inner gradient": "lambda a: a * t.func.grad(total(lambda b: b * b * w))(a)",
    "made between": "lambda a: t.func.grad(lambda b, c=made(lambda: t.ones(3)): (b * c * b).sum())(a)",
    "made between, of both": "lambda a: t.func.grad(lambda b, c=made(lambda: t.ones(3)): (b * c * a).sum())(a)",
    "an inner batch": "lambda a: t.vmap(lambda b: b * s)(a)", "nothing": "lambda a: a * n"}
TRANSFORMS = {
    "plain": "(lambda r: (r, t.autograd.grad(r.sum(), y, allow_unused=True)))(f(y))", "constant": "f(x)",
    "grad": "t.func.grad(total(f))(x)", "grad of a leaf": "t.func.grad(total(f))(y)",
    "grad of an inference tensor": "t.func.grad(total(f))(w)",
    "vjp": "t.func.vjp(f, x)[1](f(x))", "vjp of an inference tensor": "t.func.vjp(f, w)[1](f(x))",
    "jacrev": "t.func.jacrev(f)(x)", "jacfwd": "t.func.jacfwd(f)(x)", "hessian": "t.func.hessian(total(f))(x)",
    "jvp": "t.func.jvp(f, (x,), (n,))", "jvp of an inference tensor": "t.func.jvp(f, (w,), (w,))",
    "jvp of a leaf": "t.func.jvp(f, (y,), (n,))", "grad of grad": "t.func.grad(total(t.func.grad(total(f))))(x)",
    "vmap": "t.vmap(f)(t.stack([x, n]))", "vmap of grad": "t.vmap(t.func.grad(total(f)))(t.stack([x, n]))",
    "grad of vmap": "t.func.grad(lambda a: t.vmap(f)(t.stack([a, n])).sum())(x)",
    "jacobian": "t.autograd.functional.jacobian(f, x)", "jacobian by it": "t.autograd.functional.jacobian(f, w)",
    "a product by it": "t.autograd.functional.vjp(f, w, n)"}


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_inference_tensors_in_transforms(transform: str, function: str) -> None:
    def seen(library: Any) -> Any:
        names: Any = {"t": library}
        exec(SETUP, names)
        try:
            names["f"] = eval(FUNCTIONS[function], names)
            found = eval(TRANSFORMS[transform], names)
        except (RuntimeError, ValueError) as error:
            return type(error), str(error).split(". ")[0]
        return [leaf if leaf is None else (leaf.tolist(), leaf.is_inference())
                for leaf in library.utils._pytree.tree_leaves(found)]

    assert seen(retrograd) == seen(torch)
