"""Transforms of functions inside of compiled functions are traced: values, layout, random numbers, gradients as eager.

`RETROGRAD_PROGRAMS=500` in the environment compares the transforms of so many random programs.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from programs.compiled_transforms import compared, leaves, observed, unlike
from retrograd.autograd import forward_ad, functional
from retrograd.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

COUNT = int(os.environ.get("RETROGRAD_PROGRAMS", "20"))
EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]
torch.manual_seed(0)
NET = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
PARAMETERS = {name: p.detach() for name, p in NET.named_parameters()}


def loss(parameters: Any, x: Any, y: Any) -> Any:
    return torch.nn.functional.cross_entropy(functional_call(NET, parameters, (x[None],)), y[None])


def number(x: Any) -> Any:
    return (x.sin() * x).sum()


def three(x: Any) -> Any:
    return torch.stack([x.sin().sum(), (x * x).prod(), x[0] * x[1]])


def written(x: Any) -> Any:
    y = x.clone()
    y[0] = y[1] * 2
    return y.mul_(x)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return x * x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 3 * ctx.saved_tensors[0] ** 2

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        return t * 3 * ctx.saved_tensors[0] ** 2

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return Cube.apply(x), in_dims[0]


def in_a_dual_level(x: Any, v: Any) -> Any:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        return [*forward_ad.unpack_dual((dual.sin() * dual).sum(0))]


def of_pull(x: Any, v: Any) -> Any:
    out, pull = vjp(lambda y: y.sin() * 2, x)
    return out, pull(v)


def of_push(x: Any, v: Any) -> Any:
    out, push = linearize(torch.sin, x)
    return out, push(v)


# Functions of two matrices (6, 4).
TRANSFORMED: dict[str, Callable[[Any, Any], Any]] = {
    "vmap": lambda x, v: vmap(torch.dot)(x, v),
    "dims": lambda x, v: vmap(lambda a: a * 2 + 1, in_dims=1, out_dims=1)(x),
    "per-sample gradients": lambda x, v: vmap(grad(loss), in_dims=(None, 0, 0))(PARAMETERS, x, v.argmax(1) % 3),
    "jvp": lambda x, v: jvp(lambda a: torch.exp(a.cos()) * a, (x,), (v,)),
    "vjp": of_pull,
    "linearize": of_push,
    "grad": lambda x, v: grad(number)(x),
    "grad of grad": lambda x, v: grad(lambda a: grad(number)(a).sum())(x),
    "jacrev": lambda x, v: jacrev(three)(x[0]),
    "jacfwd": lambda x, v: jacfwd(three)(x[0]),
    "hessian": lambda x, v: hessian(number)(x[0]),
    "jacrev of jacrev": lambda x, v: jacrev(jacrev(number))(x[0]),
    "jacfwd of jacfwd": lambda x, v: jacfwd(jacfwd(number))(x[0]),
    "vmap of hessian": lambda x, v: vmap(hessian(number))(x),
    "jvp of vmap of grad": lambda x, v: jvp(lambda a: vmap(grad(number))(a), (x,), (v,)),
    "vmap of jvp": lambda x, v: vmap(lambda a: jvp(lambda b: b.sin() * a, (a,), (torch.ones_like(a),))[1])(x),
    "vmap of vmap": lambda x, v: vmap(lambda a: vmap(lambda b: b * a.sum())(a))(x),
    "functional.jacobian": lambda x, v: [functional.jacobian(torch.sin, x[0], vectorize=way) for way in (False, True)],
    "functional.jacobian by columns": lambda x, v: functional.jacobian(torch.sin, x[0], vectorize=True,
                                                                       strategy="forward-mode"),
    "functional.hessian": lambda x, v: functional.hessian(number, x[0]),
    "functional.hvp": lambda x, v: [functional.hvp(number, x, v), functional.vhp(number, x, v)],
    "functional.jvp": lambda x, v: functional.jvp(torch.sin, x, v),
    "a dual level": in_a_dual_level,
    "a write in a batch": lambda x, v: vmap(written)(x),
    "a write in forward mode": lambda x, v: jvp(written, (x,), (v,)),
    "an index": lambda x, v: vmap(lambda a: a[torch.tensor([0, 2])].flip(0))(x),
    "views": lambda x, v: [vmap(lambda a: a.reshape(2, 2).t())(x), jvp(lambda a: a.t()[1:], (x,), (v,))],
    "different numbers": lambda x, v: vmap(lambda a: a + torch.randn(4), randomness="different")(x),
    "the same numbers": lambda x, v: vmap(lambda a: a + torch.randn(4), randomness="same")(x),
    "dropout": lambda x, v: vmap(torch.nn.functional.dropout, randomness="different")(x),
    "a Function in forward mode": lambda x, v: jvp(Cube.apply, (x,), (v,)),
    "a Function in a batch": lambda x, v: vmap(Cube.apply)(x),
    "an inverse": lambda x, v: jvp(torch.linalg.inv, (x[:4] @ x[:4].T + 5 * torch.eye(4),), (torch.ones(4, 4),)),
    "a captured tensor": lambda x, v: vmap(lambda a, b: (a * NET[0].weight[0] + b).sum())(x, v),
    "a Jacobian of a gradient": lambda x, v: vmap(jacfwd(lambda a: jvp(number, (a,), (a,))[1]))(x),
}


def drawn(call: int, rows: int = 6) -> list[Any]:
    draw = np.random.default_rng(call)
    return [torch.tensor(draw.uniform(-1, 1, (rows, 4)).astype(np.float32)) for _ in range(2)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_transform_is_traced(name: str, executor: str) -> None:
    function = TRANSFORMED[name]
    compiled = torch.compile(function, backend=executor, fullgraph=True)
    for call in range(5):
        args = drawn(call, 4 if call == 2 else 6)          # for another size, and for that of the first call again
        if call == 4:
            args[0].requires_grad_()
        torch.manual_seed(call)
        right, numbers = observed(function, args), torch.rand(2)
        torch.manual_seed(call)
        mine = observed(compiled, [arg.detach().clone().requires_grad_(arg.requires_grad) for arg in args])
        near = (1e-6 if call == 4 else 0) if executor == "numpy" else 1e-5
        assert unlike(right, mine, near) is None
        assert torch.equal(torch.rand(2), numbers)


@pytest.mark.sampled(79)
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("batched", [False, True], ids=["one point", "a batch"])
@pytest.mark.parametrize("seed", range(COUNT))
def test_random_programs(seed: int, batched: bool, executor: str) -> None:
    reasons = Counter[str]()
    found = compared(torch, seed, executor, reasons, [batched])
    assert found is None, found
    assert {*reasons} == {"traced"}


def fell_back(function: Callable[..., Any], *args: Any) -> str:
    """Why a function runs as it is. Its results are right all the same."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compiled = torch.compile(function)
        for _ in range(3):
            for mine, right in zip(leaves(compiled(*args)), leaves(function(*args)), strict=True):
                assert torch.allclose(mine, right)
    assert len(said) == 1
    return str(said[0].message)


def test_numbers_in_forward_mode_end_the_trace() -> None:
    def function(x: Any) -> Any:
        return jvp(lambda a: a * 2 if str(a) else a, (x,), (x,))

    assert "looks at the numbers of a tensor" in fell_back(function, torch.ones(3))


def test_the_text_of_a_sample_ends_the_trace() -> None:
    def function(x: Any) -> Any:
        return vmap(lambda a: a * len(repr(a)))(x)

    assert "looks at the numbers of a tensor" in fell_back(function, torch.rand(3, 2))


def test_a_level_that_stays_ends_the_trace() -> None:
    def function(x: Any) -> Any:
        forward_ad.enter_dual_level()
        return forward_ad.make_dual(x, x).sin()

    compiled, x = torch.compile(function), torch.ones(2)
    with pytest.warns(UserWarning, match="leaves a mode changed"):
        found = compiled(x)
    assert torch.equal(forward_ad.unpack_dual(found).tangent, x.cos())
    assert torch.equal(forward_ad.unpack_dual(found * 2).tangent, 2 * x.cos())
    forward_ad.exit_dual_level()
    assert torch.equal(torch.ones(2) * 2, torch.full((2,), 2.0))


def test_an_error_in_a_transform_leaves_nothing() -> None:
    def function(x: Any, fails: bool) -> Any:
        return vmap(lambda a: a @ torch.ones(3 if fails else 2))(x)

    compiled, x = torch.compile(function), torch.rand(4, 2, requires_grad=True)
    for fails in (True, False, False, True, False):
        if fails:
            with pytest.raises(RuntimeError):
                compiled(x, fails)
        else:
            assert torch.allclose(compiled(x, fails), function(x, fails))
        assert type(x._array) is np.ndarray


def test_a_state_that_samples_read_is_compared() -> None:
    k = [1.0]
    compiled = torch.compile(lambda x: vmap(lambda a: a * k[0])(x))
    for each in (1.0, 2.0, 1.0):
        k[0] = each
        assert torch.equal(compiled(torch.ones(3)), torch.full((3,), each))


@pytest.mark.parametrize("transform", [
    lambda f, x: vmap(f)(x), lambda f, x: jvp(f, (x,), (x,)), lambda f, x: jacfwd(f)(x), lambda f, x: vjp(f, x)[1](x),
    lambda f, x: grad(lambda a: grad(lambda b: f(b).sum())(a).sum())(x)])
def test_transforms_of_a_compiled_function(transform: Callable[..., Any]) -> None:
    def function(x: Any) -> Any:
        return x.sin() * x

    compiled = torch.compile(function)
    for call in range(3):
        if call:
            compiled(torch.rand(3, 2))                     # so that there is a plan
        x = torch.rand(3, 2)
        for mine, right in zip(leaves(transform(compiled, x)), leaves(transform(function, x)), strict=True):
            assert torch.allclose(mine, right)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_a_kernel_makes_by_elements_of_another_type_may_be_mapped(dtype: Any) -> None:
    """`where` of large arrays moves bits. The trace needs the result again, for the backward pass."""
    w = torch.rand(33, dtype=dtype, requires_grad=True)

    def function(x: Any) -> Any:
        return torch.vmap(torch.sin)(torch.where(x > 0, x * w, x - w))

    compiled, x = torch.compile(function, backend="numpy", fullgraph=True), torch.randn(1200, 33, dtype=dtype)
    for _ in range(3):
        found, right = [torch.autograd.grad(f(x).sum(), w)[0] for f in (compiled, function)]
        torch.testing.assert_close(found, right)
