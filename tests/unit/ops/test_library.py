"""Operators that programs define with torch.library, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd import library


def scaled(x: torch.Tensor, k: float = 2.0) -> torch.Tensor:
    """The operator of these tests. Its graph is never recorded."""
    return x.detach().sin() * k


def setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0])
    ctx.k = inputs[1]


def backward(ctx: Any, grad: Any) -> Any:
    x, = ctx.saved_tensors
    return grad * x.cos() * ctx.k, None


def test_an_operator_has_the_gradient_that_was_registered() -> None:
    op = library.custom_op("test::scaled", scaled, mutates_args=())
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="Trying to backward through test.scaled.default but no autograd formula"):
        op(x).sum().backward()
    library.register_autograd("test::scaled", backward, setup_context=setup)
    y = op(x, k=3.0)
    assert type(y.grad_fn).__name__ == "GeneratedBackwardFor_test_scaled_defaultBackward"
    y.sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, 3.0 * x.detach().cos())
    assert op(x.detach()).grad_fn is None
    with torch.no_grad():
        assert not op(x).requires_grad
    assert torch.autograd.gradcheck(op, x.detach().double().requires_grad_())


def test_kernels_of_the_cpu_replace_the_function() -> None:
    op = library.custom_op("test::kernels", mutates_args=())(scaled)
    op.register_kernel("cuda")(lambda x, k: x)
    assert op(torch.zeros(1)).item() == 0.0
    op.register_kernel("cpu", lambda x, k=2.0: x + k)       # a default is not passed on
    assert op(torch.zeros(1)).item() == 2.0
    assert library.register_fake(op)(backward) is backward


def test_wrong_operators_and_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="Parameter x must have a type annotation"):
        library.custom_op("test::bare", lambda x: x, mutates_args=())
    op = library.custom_op("test::calls", scaled, mutates_args=())
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x' but instead found type"):
        op(3)
    with pytest.raises(RuntimeError, match=r"expected at most 2 argument\(s\) but received 3"):
        op(torch.ones(1), 1.0, 2.0)
    with pytest.raises(RuntimeError, match="must not also be an input"):
        library.custom_op("test::same", same, mutates_args=())(torch.ones(1))
    written = library.custom_op("test::written", same, mutates_args={"x"})
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator"):
        written.register_autograd(backward)
    with pytest.raises(NotImplementedError, match="Triton compiles for GPUs"):
        library.wrap_triton(same)


def same(x: torch.Tensor) -> torch.Tensor:
    return x


def squared(x: torch.Tensor) -> torch.Tensor:
    """A kernel that only works on numbers."""
    return torch.from_numpy(np.asarray(x.numpy() ** 2 * np.cos(x.numpy())))


def composed(x: torch.Tensor) -> torch.Tensor:
    return x ** 2 * x.cos()


def save(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)


def pulled(ctx: Any, g: Any) -> Any:
    x, = ctx.saved_tensors
    return g * (2 * x * x.cos() - x ** 2 * x.sin())


@pytest.mark.parametrize("transform", [
    lambda f: torch.func.grad(lambda x: f(x).sum()),
    lambda f: torch.func.vjp(f, torch.ones(3))[1],
    lambda f: lambda x: torch.func.jvp(f, (x,), (x + 1,)),
    torch.func.jacrev,
    torch.func.jacfwd,
    lambda f: torch.func.hessian(lambda x: f(x).sum()),
    lambda f: torch.func.jacfwd(torch.func.jacfwd(f)),
    lambda f: torch.func.jacrev(torch.func.jacrev(f)),
    lambda f: lambda x: torch.vmap(f)(torch.stack([x, x + 1])),
    lambda f: lambda x: torch.vmap(f, in_dims=1)(torch.stack([x, x + 1])),
    lambda f: lambda x: torch.vmap(torch.vmap(f))(torch.stack([x, x + 1])),
    lambda f: lambda x: torch.vmap(torch.func.jacfwd(f))(torch.stack([x, x + 1])),
    lambda f: lambda x: torch.vmap(torch.func.jacrev(f))(torch.stack([x, x + 1])),
    lambda f: lambda x: torch.func.jvp(torch.vmap(f), (torch.stack([x, x + 1]),), (torch.ones(2, 3),)),
    lambda f: lambda x: torch.func.jvp(lambda x: torch.func.grad(lambda x: f(x).sum())(x), (x,), (x,)),
    lambda f: lambda x: torch.func.grad(lambda x: torch.func.jvp(f, (x,), (x,))[1].sum())(x),
])
@pytest.mark.parametrize("batched", [False, True])
def test_every_transform_works_on_an_operator(transform: Any, batched: bool) -> None:
    op = library.custom_op("test::squared", squared, mutates_args=())
    op.register_autograd(pulled, setup_context=save)
    if batched:
        op.register_vmap(lambda info, in_dims, x: (op(x), in_dims[0]))
    x = torch.tensor([0.5, -1.0, 2.0])
    found, wanted = transform(op)(x), transform(composed)(x)
    for a, b in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, wanted)), strict=True):
        assert torch.allclose(a, b, atol=1e-5)


def test_tangents_of_an_operator_and_of_lists() -> None:
    op = library.custom_op("test::weighted", weighted, mutates_args=())
    op.register_autograd(lambda ctx, g: ([g * k for k in ctx.w], None), setup_context=remember)
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(a, b)
        found = torch.autograd.forward_ad.unpack_dual(op([dual, b], [2.0, 3.0]))
    assert found.primal.tolist() == [11, 16]
    assert found.tangent is not None
    assert found.tangent.tolist() == [6, 8]
    pair = torch.vmap(lambda x, y: op([x, y], [1.0, 2.0]))(torch.stack([a, b]), torch.stack([b, a]))
    assert pair.tolist() == [[7, 10], [5, 8]]
    bare = library.custom_op("test::bare_formula", squared, mutates_args=())
    with pytest.raises(RuntimeError, match="but no autograd formula was registered"):
        torch.func.jvp(bare, (a,), (b,))
    with pytest.raises(RuntimeError, match="a batch of size 0 has no sample"):
        torch.vmap(bare)(torch.ones(0, 2))


def test_a_batch_without_gradients_needs_no_context() -> None:
    calls: list[int] = []
    op = library.custom_op("test::no_context", squared, mutates_args=())
    op.register_autograd(pulled, setup_context=lambda ctx, inputs, output: calls.append(1) or save(ctx, inputs, output))
    x = torch.tensor([[0.5, 1.0], [2.0, 3.0]])
    assert torch.allclose(torch.vmap(op)(x), composed(x))
    assert calls == []
    torch.vmap(torch.func.grad(lambda x: op(x).sum()))(x)
    assert calls == [1]


def weighted(xs: list[torch.Tensor], w: list[float]) -> torch.Tensor:
    return torch.from_numpy(sum(x.detach().numpy() * k for x, k in zip(xs, w)))


def remember(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.w = inputs[1]


def test_autocast_casts_the_inputs_of_an_operator() -> None:
    seen: list[Any] = []

    def kind(x: torch.Tensor, n: int) -> torch.Tensor:
        seen.append((x.dtype, torch.is_autocast_enabled("cpu")))
        return x + n

    op = library.custom_op("test::kind", kind, mutates_args=())
    op.register_autocast("cpu", torch.bfloat16)
    with torch.autocast("cpu"):
        op(torch.ones(1), 1), op(torch.ones(1, dtype=torch.int64), 1), op(torch.ones(1).double(), 1)
    op(torch.ones(1), 1)
    assert seen == [(torch.bfloat16, False), (torch.int64, False), (torch.float64, False), (torch.float32, False)]


def test_numbers_become_those_of_the_schema() -> None:
    lib, seen = library.Library("test_numbers", "FRAGMENT"), list[Any]()
    lib.define("f(Tensor x, SymInt n=1, *, float k=2.0, int[] sizes=[], Scalar? s=None) -> Tensor")
    lib.impl("f", lambda x, *args, **named: (seen.append((args, named)), x + 1)[1], "CPU")
    x, f = torch.ones(1), torch.ops.test_numbers.f
    f(x, torch.tensor(4.5)), f(x, np.float32(3)), f(x, k=10**30), f(x, sizes=np.array([2, 3])), f(x, s=np.int64(3))
    assert seen == [((4,), {}), ((3,), {}), ((), {"k": 1e30}), ((), {"sizes": [2, 3]}), ((), {"s": 3})]
    assert type(seen[-1][1]["s"]) is int
    for given in (2**63, 2.5, torch.tensor(float("nan")), "1"):
        with pytest.raises(RuntimeError, match=r"^test_numbers::f\(\) Expected a value of type 'int' for argument 'n'"):
            f(x, given)
    lib._destroy()


def test_overloads_kernels_and_names_of_a_library() -> None:
    lib = library.Library("test_overloads", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.define("f.Scalar(Tensor x, Scalar k) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    lib.impl("f.Scalar", lambda x, k: x + k, "CompositeExplicitAutograd")
    packet = torch.ops.test_overloads.f
    assert packet.overloads() == ["default", "Scalar"]
    assert [packet(torch.zeros(1)).item(), packet(torch.zeros(1), 5).item()] == [1, 5]
    assert packet.Scalar.name() == "test_overloads::f.Scalar"
    with pytest.raises(RuntimeError, match="with the same name and overload name multiple times"):
        lib.define("f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="Only a single TORCH_LIBRARY can be used"):
        library.Library("test_overloads", "DEF")
    with pytest.raises(RuntimeError, match="Cannot define an operator inside of a TORCH_LIBRARY_IMPL block"):
        library.Library("test_overloads", "IMPL").define("g(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="is an operator of PyTorch's core"):
        library.register_autograd("aten::sin", pulled)
    lib._destroy()
    with pytest.raises(AttributeError, match="has no attribute 'f'"):
        _ = torch.ops.test_overloads.f


def test_what_a_library_adds_goes_with_the_library() -> None:
    lib = library.Library("test_lives", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    packet, ones = torch.ops.test_lives.f, torch.ones(1)

    def added(amount: int) -> library.Library:
        more = library.Library("test_lives", "IMPL", "CPU")
        more.impl("f", lambda x: x + amount)
        return more

    first, second, third = added(10), added(20), added(30)
    assert packet(ones).item() == 31
    del second                                             # not the last: nothing changes
    assert packet(ones).item() == 31
    del third
    assert packet(ones).item() == 11
    del lib
    with pytest.raises(RuntimeError, match="is not defined anymore: the torch.library.Library that defined it is gone"):
        packet(ones)
    with pytest.raises(AttributeError, match="has no attribute 'f'"):
        _ = torch.ops.test_lives.f
    again = library.Library("test_lives", "DEF")
    again.define("f(Tensor x) -> Tensor")
    assert torch.ops.test_lives.f(ones).item() == 11      # the kernel of the other library waited
    again.impl("f", lambda x: x + 2, "CPU")
    assert torch.ops.test_lives.f(ones).item() == 3
    del first
    assert torch.ops.test_lives.f(ones).item() == 3
    again._destroy()
    again._destroy()                                       # does no harm
    assert not hasattr(torch.ops.test_lives, "f")


def test_functions_of_an_operator_go_with_the_library_that_they_name() -> None:
    library.define("test_lives_of::f", "(Tensor x) -> Tensor")
    library.impl("test_lives_of::f", "cpu", lambda x: x + 1)
    f, x = torch.ops.test_lives_of.f, torch.ones(1, requires_grad=True)
    lib = library.Library("test_lives_of", "FRAGMENT")
    library.impl("test_lives_of::f", "cpu", lambda x: x + 2, lib=lib)
    library.register_fake("test_lives_of::f", torch.empty_like, lib=lib)
    library.register_autograd("test_lives_of::f", lambda ctx, g: 5 * g, lib=lib)
    library.register_vmap("test_lives_of::f", lambda info, dims, x: (x + 3, 0), lib=lib)
    library.register_kernel("test_lives_of::f", "cpu", lambda x: x + 4, lib=lib)
    assert (f(x).item(), *torch.autograd.grad(f(x), x), torch.vmap(f)(torch.ones(1)).item()) == (5, 5, 4)
    assert f(torch.ones(2, device="meta")).shape == (2,)
    del lib
    assert (f(x.detach()).item(), torch.vmap(f)(torch.ones(1)).item()) == (2, 2)
    with pytest.raises(RuntimeError, match="There was no fake impl registered"):
        f(torch.ones(2, device="meta"))


@pytest.mark.parametrize("backend", ["numpy", pytest.param("llvm", marks=needs("llvmlite"))])
@pytest.mark.filterwarnings("ignore:torch.compile runs")
def test_a_compiled_function_calls_the_kernel_of_the_present(backend: str) -> None:
    lib = library.Library("test_lives_compiled", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    step = torch.compile(lambda x: torch.ops.test_lives_compiled.f(x) * 2, backend=backend)
    assert [step(torch.ones(1)).item() for _ in range(3)] == [4, 4, 4]
    more = library.Library("test_lives_compiled", "IMPL", "CPU")
    more.impl("f", lambda x: x + 10)
    assert [step(torch.ones(1)).item() for _ in range(3)] == [22, 22, 22]
    del more
    assert [step(torch.ones(1)).item() for _ in range(3)] == [4, 4, 4]
    del lib
    with pytest.raises(AttributeError, match="has no attribute 'f'"):
        step(torch.ones(1))


def test_a_kernel_may_come_before_the_definition() -> None:
    library.register_kernel("test_early::f", "cpu", lambda x: x * 3)
    library.define("test_early::f", "(Tensor x) -> Tensor")
    assert torch.ops.test_early.f(torch.ones(1)).item() == 3
    assert library.get_kernel("test_early::f", "CPU")(torch.ones(1)).item() == 3
    assert library.get_ctx() is None
    with pytest.raises(NotImplementedError, match=r"fallthrough_kernel\(\) should never be called"):
        library.fallthrough_kernel()


def test_a_fake_function_must_have_the_strides_and_the_number_of_the_results() -> None:
    def columns(x: torch.Tensor) -> list[torch.Tensor]:
        return [x.t().contiguous().t()]

    op = library.custom_op("test::columns", columns, mutates_args=())
    for fake, words in ((lambda x: [torch.empty(2, 3)], r"Strides are \(1, 2\) and \(3, 1\) \(mismatched at 0\)!"),
                        (lambda x: [], "mismatch in number of returns 0 != 1"),
                        (lambda x: [x], "mismatch in outputs_alias_inputs check True != False")):
        op.register_fake(fake)
        with pytest.raises(library.OpCheckError, match=words):
            library.opcheck(op, (torch.ones(2, 3),))
    op.register_fake(lambda x: [torch.empty(3, 2).t()])
    assert library.opcheck(torch.ops.test.columns, (torch.ones(2, 3),))["test_faketensor"] == "SUCCESS"
