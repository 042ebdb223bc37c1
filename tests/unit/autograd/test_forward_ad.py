"""`torch.autograd.forward_ad`: levels, dual tensors, writes, views, modules, optimizers, threads."""

from __future__ import annotations

import copy
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.tangents import V, X, tangent_of as tangent
from retrograd.autograd import forward_ad


@pytest.fixture
def dual() -> Any:
    with forward_ad.dual_level():
        yield forward_ad.make_dual(torch.tensor(X), torch.tensor(V))


# Levels


def test_levels_have_numbers_and_do_not_nest() -> None:
    assert forward_ad._current_level == -1
    with forward_ad.dual_level() as level:
        assert (level, forward_ad._current_level) == (0, 0)
        with pytest.raises(RuntimeError, match="^Nested forward mode AD is not supported at the moment"):
            forward_ad.enter_dual_level()
        with pytest.raises(RuntimeError, match="^Trying to exit a forward AD level that was not the last one"):
            forward_ad.exit_dual_level(level=5)
    with pytest.raises(RuntimeError, match="^Dual level must be a positive number"):
        forward_ad.exit_dual_level()
    assert (forward_ad.enter_dual_level(), forward_ad.exit_dual_level(level=0)) == (0, None)


def test_a_level_that_is_left_keeps_no_tangents() -> None:
    x = torch.tensor(X)
    with forward_ad.dual_level():
        level, kept = weakref.ref(forward_ad._levels[-1]), forward_ad.make_dual(x, x.clone())
    assert level() is None
    assert torch.equal(kept, x)


def test_a_level_is_a_decorator_and_ends_after_an_error() -> None:
    @forward_ad.dual_level()
    def slope(x: Any) -> Any:
        return tangent(forward_ad.make_dual(x, torch.ones_like(x)) ** 2)

    assert slope(torch.tensor(X)) == [2.0, 4.0]
    with pytest.raises(ZeroDivisionError), forward_ad.dual_level():
        raise ZeroDivisionError
    assert forward_ad._current_level == -1


def test_tangents_end_with_their_level() -> None:
    with forward_ad.dual_level():
        z = forward_ad.make_dual(torch.tensor(X), torch.tensor(V)) * 2
        assert tangent(z) == [6.0, 8.0]
    assert forward_ad.unpack_dual(z) == (z, None)
    with forward_ad.dual_level():
        assert tangent(z) is None


def refusals() -> dict[str, tuple[type[Exception], str, Callable[[Any, Any, Any], Any]]]:
    make, unpack = forward_ad.make_dual, forward_ad.unpack_dual
    return {
        "an int": (ValueError, "Expected primal to be floating point or complex, but got: torch.int64",
                   lambda x, v, d: make(x.long(), v)),
        "an int tangent": (ValueError, "Expected tangent to be floating point or complex, but got: torch.int64",
                           lambda x, v, d: make(x, v.long())),
        "another shape": (RuntimeError, "Trying to set a forward gradient that has a different size than that of the "
                                        "original Tensor, this is not supported. Tensor is of size [2] while the given "
                                        "forward gradient is of size [1, 2].", lambda x, v, d: make(x, v[None])),
        "a dual tensor": (RuntimeError, "Making a dual Tensor based on a Tensor that already has a forward gradient at "
                                        "the same level 0 is not supported.", lambda x, v, d: make(d, v)),
        "a dual tangent": (RuntimeError, "Setting a forward grad that itself has a forward gradient at the same level0 "
                                         "is not supported.", lambda x, v, d: make(x, d)),
        "another level": (RuntimeError, "Invalid level given to _make_dual", lambda x, v, d: make(x, v, level=3)),
        "no level": (RuntimeError, "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
                                   "enter_dual_level() first.", lambda x, v, d: make(x, v, level=-1)),
        "unpacking another level": (RuntimeError, "Invalid level given to _fw_primal",
                                    lambda x, v, d: unpack(d, level=3)),
        "unpacking a text": (TypeError, "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not str",
                             lambda x, v, d: unpack("a")),
        "a sparse tensor": (NotImplementedError, "Cannot access storage of SparseTensorImpl",
                            lambda x, v, d: make(x.to_sparse(), v)),
        "no tensor": (AttributeError, "'NoneType' object has no attribute 'is_floating_point'",
                      lambda x, v, d: make(x, None)),
        "resizing": (RuntimeError, "cannot resize variables that has a forward grad",
                     lambda x, v, d: (d * 1).resize_(3)),
        "other memory": (NotImplementedError, "Trying to use forward AD with set_ that does not support it",
                         lambda x, v, d: (d * 1).set_(x)),
        "a leaf": (RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                   lambda x, v, d: make(x.requires_grad_(), v).mul_(2)),
        "a derivative that is not known": (NotImplementedError, "Trying to use forward AD with igamma that does not",
                                           lambda x, v, d: torch.igamma(d, x)),
    }


@pytest.mark.parametrize("name", refusals())
def test_refusals(name: str, dual: Any) -> None:
    kind, message, call = refusals()[name]
    with pytest.raises(kind) as caught:
        call(torch.tensor(X), torch.tensor(V), dual)
    assert str(caught.value).startswith(message)


def test_outside_of_a_level_nothing_is_dual() -> None:
    with pytest.raises(RuntimeError, match="^Trying to create a dual Tensor for forward AD but no level exists"):
        forward_ad.make_dual("x", None)
    assert forward_ad.unpack_dual("a") == ("a", None)


def test_switching_tangents_off(dual: Any) -> None:
    assert forward_ad._is_fwd_grad_enabled()
    with forward_ad._set_fwd_grad_enabled(False):
        assert not forward_ad._is_fwd_grad_enabled()
        assert (tangent(dual), tangent(dual * 2)) == (None, None)
        assert tangent(forward_ad.make_dual(torch.tensor(X), torch.tensor(V))) is None
    assert (tangent(dual), tangent(dual * 2)) == (V, [6.0, 8.0])


# Dual tensors


def test_a_dual_tensor_shares_the_memory_and_the_version() -> None:
    with forward_ad.dual_level():
        x = torch.tensor(X)
        d = forward_ad.make_dual(x, torch.tensor(V))
        assert (d.data_ptr(), d.requires_grad, d.is_leaf) == (x.data_ptr(), False, True)
        d.mul_(2)
        assert (x.tolist(), tangent(x), tangent(d)) == ([2.0, 4.0], None, [6.0, 8.0])
        assert x._version == d._version == 1
        assert forward_ad.unpack_dual(d).primal.data_ptr() == x.data_ptr()


def test_the_tangent_takes_the_dtype_of_the_tensor() -> None:
    with forward_ad.dual_level():
        d = forward_ad.make_dual(torch.tensor(X), torch.tensor(V, dtype=torch.float64))
        assert forward_ad.unpack_dual(d).tangent.dtype == torch.float32
        d = forward_ad.make_dual(torch.tensor(X, dtype=torch.complex64), torch.tensor(V))
        assert forward_ad.unpack_dual(d).tangent.dtype == torch.complex64


def test_an_expanded_tensor_has_a_tangent_for_each_element() -> None:
    with forward_ad.dual_level():
        d = forward_ad.make_dual(torch.ones(1).expand(2), torch.tensor(V))
        assert (tangent(d * 3), tangent(d.sum())) == ([9.0, 12.0], 7.0)
        d = forward_ad.make_dual(torch.ones(2), torch.ones(1).expand(2))
        assert tangent(d.mul_(2)) == [2.0, 2.0]


@pytest.mark.parametrize(("name", "call", "expected"), [
    ("detach", lambda d: d.detach(), None), ("data", lambda d: d.data, None),
    ("detach_", lambda d: (d * 1).detach_(), None), ("Parameter", lambda d: torch.nn.Parameter(d), None),
    ("tensor", lambda d: d.new_tensor([1.0]), None), ("as_tensor", lambda d: torch.as_tensor(d), V),
    ("deepcopy", lambda d: copy.deepcopy(d), None), ("pickle", lambda d: pickle.loads(pickle.dumps(d)), None),
    ("zeros_like", lambda d: torch.zeros_like(d), None), ("clone", lambda d: d.clone(), V),
    ("long", lambda d: d.long(), None), ("gt", lambda d: d > 1, None), ("argmax", lambda d: d.argmax(), None),
    ("round", lambda d: d.round(), [0.0, 0.0]), ("sign", lambda d: d.sign(), [0.0, 0.0]),
    ("zero_", lambda d: (d * 1).zero_(), [0.0, 0.0]), ("fill_", lambda d: (d * 1).fill_(2), [0.0, 0.0]),
    ("normal_", lambda d: (d * 1).normal_(), [0.0, 0.0]), ("gt_", lambda d: (d * 1).gt_(1.5), [0.0, 0.0]),
    ("logical_and_", lambda d: (d * 1).logical_and_(torch.ones(2)), [0.0, 0.0]),
    ("requires_grad_", lambda d: d.requires_grad_(), V),
    ("embedding", lambda d: torch.nn.functional.embedding(torch.tensor([1]), d[:, None], max_norm=0.5), [[4.0]]),
])
def test_what_keeps_tangents(name: str, call: Callable[[Any], Any], expected: Any, dual: Any) -> None:
    assert tangent(call(dual)) == expected


def test_grad_modes_keep_tangents(dual: Any) -> None:
    with torch.no_grad():
        assert tangent(dual * 2) == [6.0, 8.0]
    with torch.inference_mode():
        assert tangent(dual * 2) == [6.0, 8.0]


def test_a_detached_tensor_counts_writes_with_the_other() -> None:
    with forward_ad.dual_level():
        d = forward_ad.make_dual(torch.tensor(X), torch.tensor(V)) * 1
        d.detach().zero_()
        assert (d.tolist(), tangent(d), d._version) == ([0.0, 0.0], V, 1)


# Writes


def test_writes_into_fresh_and_shared_memory(dual: Any) -> None:
    z = torch.zeros(3)
    head, tail = z[:2], z[1:]
    head.copy_(dual)
    assert (tangent(z), tangent(head), tangent(tail)) == ([3.0, 4.0, 0.0], V, [4.0, 0.0])
    z.mul_(2)
    assert (tangent(head), tangent(tail)) == ([6.0, 8.0], [8.0, 0.0])
    tail[0] = 5
    assert tangent(z) == [6.0, 0.0, 0.0]
    z[1:] = dual * dual
    assert (z.tolist(), tangent(z)) == ([2.0, 1.0, 4.0], [6.0, 6.0, 16.0])


def test_a_written_view_of_another_layout(dual: Any) -> None:
    z = torch.zeros(2, 3)
    z.t()[1].copy_(dual)
    z.diagonal().add_(dual)
    assert tangent(z) == [[3.0, 3.0, 0.0], [0.0, 8.0, 0.0]]
    assert tangent(z.t().reshape(-1)[::2]) == [3.0, 3.0, 0.0]
    assert tangent(z.as_strided((2,), (4,), 0)) == [3.0, 8.0]


def test_out_refuses_tangents_and_leaves_what_it_would_write_over(dual: Any) -> None:
    z = torch.zeros(2)
    with pytest.raises(NotImplementedError, match="^Trying to use forward AD with mul_out that does not support it"):
        torch.mul(dual, 2, out=z)
    with pytest.raises(NotImplementedError, match="^Trying to use forward AD with mul_out that does not support it"):
        torch.mul(torch.tensor(X), 2, out=dual)
    with torch.no_grad(), pytest.raises(NotImplementedError, match="^Trying to use forward AD with stack_out"):
        torch.stack([dual, dual], out=torch.empty(0))
    assert (z.tolist(), tangent(dual)) == ([0.0, 0.0], V)


def test_random_numbers_are_drawn_once() -> None:
    torch.manual_seed(3)
    expected = [torch.zeros(4).normal_().tolist(), torch.rand(2).tolist()]
    torch.manual_seed(3)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(torch.zeros(4), torch.ones(4))
        assert [d.normal_().tolist(), torch.rand(2).tolist()] == expected


# Reverse mode


def test_gradients_of_tangents_and_tangents_of_gradients() -> None:
    with forward_ad.dual_level():
        p, w = torch.tensor(X, requires_grad=True), torch.tensor(V, requires_grad=True)
        z = (forward_ad.make_dual(p, w) ** 3).sum()
        by_p, by_w = torch.autograd.grad(forward_ad.unpack_dual(z).tangent, (p, w), retain_graph=True)
        assert (by_p.tolist(), by_w.tolist()) == ([18.0, 48.0], [3.0, 12.0])
        (g,) = torch.autograd.grad(z, p)
        assert (g.tolist(), tangent(g)) == ([3.0, 12.0], [18.0, 48.0])


def test_a_gradient_of_a_tangent_after_the_level() -> None:
    p = torch.tensor(X, requires_grad=True)
    with forward_ad.dual_level():
        found = forward_ad.unpack_dual((forward_ad.make_dual(p, torch.tensor(V)) ** 3).sum()).tangent
    assert torch.autograd.grad(found, p)[0].tolist() == [18.0, 48.0]


def test_accumulated_gradients_have_no_tangents() -> None:
    with forward_ad.dual_level():
        p = torch.tensor(X, requires_grad=True)
        (forward_ad.make_dual(p, torch.tensor(V)) ** 2).sum().backward()
        assert (p.grad.tolist(), tangent(p.grad)) == ([2.0, 4.0], None)


# Modules, optimizers, threads, texts


def test_parameters_of_modules() -> None:
    layer = torch.nn.Linear(2, 1)
    weights = {"weight": torch.tensor([[1.0, -1.0]]), "bias": torch.tensor([0.5])}
    with forward_ad.dual_level():
        duals = {name: forward_ad.make_dual(w, torch.ones_like(w)) for name, w in weights.items()}
        assert tangent(torch.func.functional_call(layer, duals, torch.tensor(X))) == [4.0]
        with pytest.raises(TypeError, match="^cannot assign 'torch.FloatTensor' as parameter 'weight'"):
            layer.weight = duals["weight"]
        del layer.weight
        layer.weight = duals["weight"]
        assert tangent(layer(torch.tensor(X))) == [3.0]


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_a_step_of_an_optimizer_has_tangents(kind: str, dual: Any) -> None:
    p = torch.nn.Parameter(torch.tensor(X))
    p.grad = dual
    optimizer = getattr(torch.optim, kind)([p], lr=0.5)
    optimizer.step()
    moved = torch.tensor(X) - 0.5 * (dual.detach() if kind == "SGD" else 1)
    np.testing.assert_allclose(p.detach().numpy(), moved.numpy(), rtol=1e-6)
    np.testing.assert_allclose(tangent(p), [-1.5, -2.0] if kind == "SGD" else [0.0, 0.0], atol=1e-6)


def test_other_threads_see_the_level(dual: Any) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append((tangent(dual * 2), forward_ad._current_level)))
    thread.start()
    thread.join()
    assert found == [([6.0, 8.0], 0)]


def test_texts(dual: Any) -> None:
    assert repr(dual) == "tensor([1., 2.], tangent=tensor([3., 4.]))"
    assert repr(dual[0]) == "tensor(1., tangent=3.0)"
    assert (f"{dual[0]}", dual[0].item(), dual.tolist()) == ("1.0", 1.0, X)
    assert repr(dual.double()) == ("tensor([1., 2.], dtype=torch.float64,\n"
                                   "       tangent=tensor([3., 4.], dtype=torch.float64))")


def test_a_tensor_without_a_tangent_has_none_at_any_level() -> None:
    x = torch.ones(2)
    apart = forward_ad.unpack_dual(x, level=3)
    assert (apart.primal is x, apart.tangent) == (False, None)
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(x, level=3).tangent is None
        with pytest.raises(RuntimeError, match="^Invalid level given to _fw_primal"):
            forward_ad.unpack_dual(forward_ad.make_dual(x, x), level=3)


def test_assigned_memory_keeps_the_tangent_of_the_tensor(dual: Any) -> None:
    tangent_before = forward_ad.unpack_dual(dual).tangent
    memory = torch.zeros_like(tangent_before)
    dual.data = memory
    assert torch.equal(forward_ad.unpack_dual(dual).tangent, tangent_before)
    assert forward_ad.unpack_dual(memory).tangent is None
    assert dual.data_ptr() == memory.data_ptr()
    other = forward_ad.make_dual(torch.ones_like(memory), torch.ones_like(memory))
    dual.data = other
    assert torch.equal(forward_ad.unpack_dual(dual).tangent, tangent_before)
    memory.data = other
    assert forward_ad.unpack_dual(memory).tangent is None


def test_a_view_with_assigned_memory_keeps_its_tangent(dual: Any) -> None:
    row, before = dual[0], forward_ad.unpack_dual(dual[0]).tangent.clone()
    row.data = torch.zeros_like(before)
    assert torch.equal(forward_ad.unpack_dual(row).tangent, before)
    assert torch.equal(forward_ad.unpack_dual(dual).tangent[0], before)


@pytest.mark.parametrize("transform", [torch.func.grad, lambda f: lambda x: torch.func.jvp(f, (x,), (x,))])
def test_assigned_memory_is_refused_in_transforms_of_functions(transform: Any) -> None:
    def function(x: Any) -> Any:
        x.data = x * 2
        return x.sum()

    with pytest.raises(RuntimeError, match="^mutating directly with `.data` inside functorch transform is not allowed"):
        transform(function)(torch.ones(3))
