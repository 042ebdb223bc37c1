"""Hooks on saved tensors: what they see, how often, in which mode, and what is refused. Facts recorded from PyTorch."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from noting import whole
from retrograd.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

Hook = Callable[[Any], Any]


def leaf(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


def same(tensor: Any) -> Any:
    return tensor


class Log(list[Any]):
    """Notes what hooks are called with. Its hooks hand everything on."""

    def hooks(self, name: str = "") -> saved_tensors_hooks:
        def pack(tensor: Any) -> Any:
            self.append(f"pack{name}")
            return tensor

        def unpack(packed: Any) -> Any:
            self.append(f"unpack{name}")
            return packed

        return saved_tensors_hooks(pack, unpack)


def test_each_saved_value_is_packed_once_and_unpacked_in_every_pass() -> None:
    log, x = Log(), leaf(1., 2.)
    with log.hooks():
        y = (x * x).sum()
    assert log == ["pack"] * 2
    y.backward(retain_graph=True)
    assert log[2:] == ["unpack"] * 2
    y.backward()
    assert log[4:] == ["unpack"] * 2
    np.testing.assert_array_equal(x.grad.numpy(), [4., 8.])
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_only_the_innermost_hooks_are_called_and_each_value_comes_back_by_its_own() -> None:
    log, x, w = Log(), leaf(1., 2.), leaf(3., 4.)
    with log.hooks("1"):
        with log.hooks("2"):
            y = x * w
        z = y.exp()
    x * w
    z.sum().backward()
    assert log == ["pack2", "pack2", "pack1", "unpack1", "unpack2", "unpack2"]


def test_a_pair_of_hooks_may_be_entered_again() -> None:
    log, x = Log(), leaf(1.)
    hooks = log.hooks()
    with hooks:
        with hooks:
            x * x
        x * x
    assert log == ["pack"] * 4
    x * x
    assert len(log) == 4


def test_hooks_belong_to_their_thread() -> None:
    log, x = Log(), leaf(1.)
    with log.hooks():
        thread = threading.Thread(target=lambda: x * x)
        thread.start()
        thread.join()
    assert log == []


def test_a_pack_hook_is_given_the_tensors_themselves() -> None:
    seen: list[Any] = []
    x = leaf(1., 2.)
    a, c = x * 2, torch.ones(2)
    with saved_tensors_hooks(lambda t: seen.append(t), same):  # type: ignore[func-returns-value]
        a * c
        x * c.double()
        x.exp()
    assert seen[0] is c
    assert seen[1].dtype == torch.float64
    assert seen[2].requires_grad
    assert type(seen[2].grad_fn).__name__ == "ExpBackward0"


def test_python_numbers_are_not_packed_and_tensors_of_no_dimension_are() -> None:
    log, x = Log(), leaf(1., 2.)
    with log.hooks():
        x * 2
        2.5 * x
        x / 3
    assert log == []
    with log.hooks():
        x * torch.tensor(2.)
    assert log == ["pack"]


def test_values_that_a_kernel_computes_in_another_dtype_are_packed_in_their_own() -> None:
    seen: list[Any] = []
    x = leaf(1., 2.)

    def pack(tensor: Any) -> Any:
        seen.append(tensor.dtype)
        return tensor

    with saved_tensors_hooks(pack, same):
        y = x * torch.tensor([2, 3])
    y.sum().backward()
    assert seen == [torch.int64]
    np.testing.assert_array_equal(x.grad.numpy(), [2., 3.])


def test_hooks_run_unrecorded_and_unpack_hooks_in_the_mode_of_the_pass() -> None:
    modes: list[bool] = []
    x = leaf(2., 3.)

    def note(value: Any) -> Any:
        modes.append(torch.is_grad_enabled())
        return value

    with saved_tensors_hooks(note, note):
        y = (x * x).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert modes == [False, False, True, True]
    g.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2., 2.])


def test_a_recorded_pass_keeps_the_history_of_what_was_unpacked() -> None:
    x = leaf(1., 2.)
    with saved_tensors_hooks(lambda t: t.detach().numpy().copy(), torch.from_numpy):
        y = x.exp()
        z = y * y
    (g,) = torch.autograd.grad(z.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), 4 * np.exp([2., 4.]), rtol=1e-6)


@pytest.mark.parametrize(("returned", "gradient"), [
    (torch.ones(()), [1., 1.]), (torch.ones(1) * 5, [5., 5.]), (torch.ones(2, 2), [2., 2.]),
    (torch.tensor([7, 8]).double(), [7., 8.])])
def test_what_an_unpack_hook_returns_is_computed_with_as_it_is(returned: Any, gradient: list[float]) -> None:
    x = leaf(1., 2.)
    with saved_tensors_hooks(same, lambda packed: returned):
        y = x * torch.ones(2)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), gradient)


@pytest.mark.parametrize("returned", [3, None])
def test_an_unpack_hook_that_returns_no_tensor_is_refused(returned: Any) -> None:
    x = leaf(1., 2.)
    with saved_tensors_hooks(same, lambda packed: returned):
        y = x * x
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                                        f"type {type(returned).__name__}"):
        y.sum().backward()


def test_unpacked_values_of_the_wrong_shape_or_kind_are_refused() -> None:
    x = leaf(1., 2.)
    with saved_tensors_hooks(same, lambda packed: torch.ones(3)):
        y = x * x
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        y.sum().backward()
    with saved_tensors_hooks(same, lambda packed: packed.long()):
        y = x * x
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        y.sum().backward()


def test_a_pack_hook_may_not_write_to_what_it_is_given() -> None:
    def double(tensor: Any) -> Any:
        with torch.no_grad():
            return tensor.mul_(2)

    for f in (lambda x: x * x, torch.exp):
        with (saved_tensors_hooks(double, same),
              pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place")):
            f(leaf(1., 2.))
    assert torch.is_grad_enabled()


def test_errors_of_hooks_come_through_and_the_pass_may_be_tried_again() -> None:
    def fail(value: Any) -> Any:
        raise ValueError("no")

    x = leaf(1., 2.)
    with saved_tensors_hooks(fail, same), pytest.raises(ValueError, match="no"):
        x * x
    assert torch.is_grad_enabled()
    with saved_tensors_hooks(same, fail):
        y = (x * x).sum()
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            y.backward()


def test_hooks_must_be_callable_and_the_hooks_are_no_decorator() -> None:
    with pytest.raises(TypeError, match="callable"), saved_tensors_hooks(3, 4):  # type: ignore[arg-type]
        pass
    with pytest.raises(TypeError):
        saved_tensors_hooks(same, same)(lambda: None)  # type: ignore[operator]


def test_packed_values_may_be_written_to_afterwards() -> None:
    x = leaf(1., 2.)
    a = x * 2
    with saved_tensors_hooks(lambda t: t.clone(), same):
        b = a * a
    a.mul_(5)
    b.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [8., 16.])


def test_what_a_write_in_place_destroys_is_packed_as_it_was() -> None:
    x = leaf(2., 3.)
    with saved_tensors_hooks(lambda t: t.detach().numpy().copy(), torch.from_numpy):
        a = x * 1
        a.mul_(a)
        a.exp_()
    a.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.array([2., 3.]) * np.exp([4., 9.]), rtol=1e-6)


def test_the_indices_of_an_indexing_are_packed() -> None:
    log, x = Log(), leaf(1., 2., 3.)
    with log.hooks():
        y = x[torch.tensor([0, 2])]
    assert log == ["pack"]
    y.sum().backward()
    assert log == ["pack", "unpack"]
    np.testing.assert_array_equal(x.grad.numpy(), [1., 0., 1.])


@pytest.mark.usefixtures("no_collector")
def test_parcels_go_as_soon_as_their_node_has_run_and_with_the_graph() -> None:
    class Box:
        """Something that can be watched."""

    def boxes() -> list[Any]:
        kept: list[Any] = []

        def pack(tensor: Any) -> Any:
            box = Box()
            kept.append(weakref.ref(box))
            return box

        x = leaf(1., 2.)
        with saved_tensors_hooks(pack, lambda box: torch.ones(2)):
            y = x * leaf(3., 4.)
        kept.append(y)
        return kept

    first, second, y = boxes()
    y.sum().backward()
    assert first() is None
    assert second() is None
    first, second, y = boxes()
    del y
    assert first() is None
    assert second() is None


class Product(torch.autograd.Function):
    """A product that saves an input, its output and what is neither."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        out = a * b
        ctx.save_for_backward(a, out, None, a.detach() * 2)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        a, out, nothing, other = ctx.saved_tensors
        assert nothing is None
        assert out.requires_grad
        assert not other.requires_grad
        return g * out / a, g * a


def test_what_a_function_saves_is_packed_when_it_has_run() -> None:
    log, x, w = Log(), leaf(1., 2.), leaf(3., 4.)
    with log.hooks():
        y = Product.apply(x, w)
        with torch.no_grad():
            Product.apply(x, w)
    assert log == ["pack"] * 3
    y.sum().backward()
    assert log[3:] == ["unpack"] * 3
    np.testing.assert_array_equal(x.grad.numpy(), [3., 4.])
    np.testing.assert_array_equal(w.grad.numpy(), [1., 2.])


def test_saving_on_the_cpu_changes_nothing() -> None:
    for pinned in (False, True):
        x, w = leaf(1., 2.), leaf(3., 4.)
        with save_on_cpu(pin_memory=pinned):
            y = x * w
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3., 4.])


def test_hooks_can_be_disabled() -> None:
    x = leaf(1.)
    with disable_saved_tensors_hooks("first"):
        with disable_saved_tensors_hooks("second"), pytest.raises(RuntimeError, match="second"), save_on_cpu():
            pass
        with pytest.raises(RuntimeError, match="first"), save_on_cpu():
            pass
    with saved_tensors_hooks(same, same):
        with pytest.raises(RuntimeError, match="inside"), disable_saved_tensors_hooks("inside"):
            pass
        x * x

    @disable_saved_tensors_hooks("decorated")
    def inside() -> None:
        with save_on_cpu():
            pass

    for _ in range(2):
        with pytest.raises(RuntimeError, match="decorated"):
            inside()
    with save_on_cpu():
        pass


def test_a_shape_from_an_unpack_hook_is_refused_in_the_same_words_in_every_pass() -> None:
    x = torch.tensor([1., 2.], requires_grad=True)
    for create_graph in (False, True):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda packed: torch.ones(3)):
            y = x * x
        with pytest.raises(RuntimeError, match=r"^The size of tensor a \(2\) must match") as caught:
            torch.autograd.grad(y.sum(), x, create_graph=create_graph)
        assert "hooks unpacked [3]" in whole(caught.value)
