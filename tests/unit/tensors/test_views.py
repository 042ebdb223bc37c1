"""Views and memory: geometry given or changed in place, memory shared and exchanged, with facts taken from PyTorch."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

import retrograd as torch


def test_as_strided_reads_the_memory_and_its_gradient_adds_up() -> None:
    x = torch.arange(1., 5.).requires_grad_()
    y = x.as_strided((3, 2), (1, 1))
    assert y.tolist() == [[1, 2], [2, 3], [3, 4]]
    assert y.grad_fn.name() == "AsStridedBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [1, 2, 2, 1]


def test_the_gradient_of_memory_in_several_places_is_shared_among_them() -> None:
    x = torch.arange(1., 4.).requires_grad_()
    windows = x.unfold(0, 2, 1)
    g, = torch.autograd.grad(windows.as_strided((3,), (1,)).sum(), windows)
    assert g.tolist() == [[1, .5], [.5, 1]]


@pytest.mark.parametrize(("arguments", "message"), [
    (((2,), (1,), 5), r"^setStorage: sizes \[2\], strides \[1\], storage offset 5, and itemsize 4 requiring a storage "
                      "size of 28 are out of bounds for storage of size 24"),
    (((2,), (-1,), 5), "^as_strided: Negative strides are not supported at the moment, got strides: "),
    (((2,), (1, 2)), "^mismatch in length of strides and shape"),
    (((2,), (1,), -5), "^Tensor: invalid storage offset -5"),
])
def test_views_that_leave_the_memory_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.arange(6.).as_strided(*arguments)


def test_a_change_of_geometry_is_recorded_and_counted() -> None:
    x = torch.arange(6.).reshape(2, 3).requires_grad_()
    y = x * 2
    assert y.t_() is y
    assert (y.shape, y.stride(), y._version, y._is_view()) == ((3, 2), (1, 3), 1, False)
    assert y.grad_fn.name() == "TBackward1"
    y.unsqueeze_(0).squeeze_(0).transpose_(0, 1)
    assert [n.name() for n, _ in y.grad_fn.next_functions] == ["SqueezeBackward4"]
    (y * y).sum().backward()
    assert x.grad.tolist() == [[0, 8, 16], [24, 32, 40]]
    leaf = torch.zeros(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="^a leaf Variable that requires grad is being used in an in-place"):
        leaf.t_()
    assert leaf.shape == (2, 3)


def test_views_follow_a_base_that_was_turned() -> None:
    x = torch.arange(6.).reshape(2, 3).requires_grad_()
    base = x * 2
    row = base[1:]
    base.t_()
    row.mul_(2)
    assert base.tolist() == [[0, 12], [2, 16], [4, 20]]
    assert [base.grad_fn.name(), row.grad_fn.name()] == ["torch::autograd::CopySlices", "AsStridedBackward0"]
    (base * base).sum().backward()
    assert x.grad.tolist() == [[0, 8, 16], [96, 128, 160]]


@pytest.mark.usefixtures("no_collector")
def test_a_turned_tensor_dies_by_reference_counts() -> None:
    gc.collect()
    x = torch.ones(2, 3, requires_grad=True)
    base = x * 2
    view = base[1:]
    base.t_()
    view.mul_(2)
    base.sum().backward()
    del base, view
    assert gc.collect() == 0


def test_overlapping_windows_are_written_in_order_and_coinciding_elements_refused() -> None:
    x = torch.arange(6.)
    x.unfold(0, 3, 1).mul_(2)
    assert x.tolist() == [0, 4, 16, 24, 16, 10]
    wide = torch.arange(3.).expand(2, 3)
    for write in (lambda: wide.add_(1), lambda: wide.copy_(torch.ones(3)), lambda: wide.unfold(1, 2, 1).add_(1)):
        with pytest.raises(RuntimeError, match="^unsupported operation: more than one element of the written-to"):
            write()
    assert wide.diagonal().add_(1).tolist() == [1, 2]


@pytest.mark.parametrize(("call", "values"), [
    (lambda x, s: x.select_scatter(s[:3], 0, 1), [[0, 0, 0], [1, 2, 3], [0, 0, 0]]),
    (lambda x, s: x.slice_scatter(s[:3].view(3, 1), 1, 2), [[0, 0, 1], [0, 0, 2], [0, 0, 3]]),
    (lambda x, s: x.diagonal_scatter(s[:2], 1), [[0, 1, 0], [0, 0, 2], [0, 0, 0]]),
    (lambda x, s: x.as_strided_scatter(s.view(2, 2), (2, 2), (1, 3), 1), [[0, 1, 3], [0, 2, 4], [0, 0, 0]]),
])
def test_views_replaced_in_a_copy(call: object, values: list[list[int]]) -> None:
    x, s = torch.zeros(3, 3, requires_grad=True), torch.arange(1., 5.).requires_grad_()
    y = call(x, s)
    assert y.tolist() == values
    y.sum().backward()
    assert x.grad.tolist() == [[float(v == 0) for v in row] for row in values]
    assert s.grad.sum() == sum(v > 0 for row in values for v in row)
    with pytest.raises(RuntimeError, match="^expected src to have a size equal to the slice of self"):
        x.select_scatter(s, 0, 1)


def test_fill_diagonal() -> None:
    assert torch.zeros(7, 3).fill_diagonal_(1, wrap=True).tolist() == [
        [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    with pytest.raises(RuntimeError, match="^all dimensions of input must be of equal length"):
        torch.zeros(2, 3, 3).fill_diagonal_(1)


def test_storages_show_who_shares_memory() -> None:
    x = torch.arange(6.).reshape(2, 3)
    s = x.untyped_storage()
    assert x.t()[1].untyped_storage() is s
    assert (s.nbytes(), len(s), s.data_ptr()) == (24, 24, x.data_ptr())
    assert (x + 0).untyped_storage() is not s
    s.fill_(0)
    assert not x.any()
    assert (x[1:].storage_offset(), x[1:].data.storage_offset(), torch.from_numpy(x.numpy()[1:]).storage_offset()) == (
        3, 3, 0)
    assert torch.empty(0).data_ptr() == 0


def test_the_size_of_a_storage_counts_its_elements() -> None:
    large, small = torch.zeros(1000), torch.zeros(0)
    assert sys.getsizeof(large.untyped_storage()) - sys.getsizeof(small.untyped_storage()) == 4000
    with pytest.warns(UserWarning, match="^TypedStorage is deprecated"):
        assert sys.getsizeof(large.storage()) - sys.getsizeof(small.storage()) == 4000


def test_other_memory_behind_a_tensor() -> None:
    x, other = torch.zeros(3).add_(1), torch.ones(2, 2)
    x.data = other
    assert (x.shape, x._version, other._version) == ((2, 2), 1, 0)
    x.add_(1)
    assert (other.tolist(), x._version, other._version) == ([[2, 2], [2, 2]], 2, 0)
    x.set_(torch.arange(6.).untyped_storage(), 1, (2, 2), (1, 2))
    assert (x.tolist(), x._version) == ([[1, 3], [2, 4]], 3)
    with pytest.raises(RuntimeError, match="^Could not set tensor of type long int to a tensor of type float"):
        x.set_(torch.arange(3))
    y = torch.zeros(2, requires_grad=True) * 2
    y.set_(torch.ones(3))
    with pytest.raises(RuntimeError, match="^derivative for set_ is not implemented"):
        y.sum().backward()


def test_a_view_that_was_set_to_other_memory_has_no_derivative() -> None:
    """Neither with respect to its former base nor with respect to the tensor whose memory it has."""
    leaf = torch.ones(2, 3, requires_grad=True)
    for view, source in (((leaf * 2).view(3, 2), torch.zeros(3, 2)), (torch.ones(2, 3).view(3, 2), leaf.t() * 3)):
        view.set_(source)
        assert view.tolist() == source.tolist()
        with pytest.raises(RuntimeError, match="^derivative for set_ is not implemented"):
            view.sum().backward()
    assert leaf.grad is None


@pytest.mark.parametrize("name", ["shape", "dtype", "T", "is_cuda", "is_sparse", "ndim", "_version", "grad_fn"])
def test_what_cannot_be_assigned_is_named(name: str) -> None:
    said = f"^attribute '{name}' of 'torch._C.TensorBase' objects is not writable$"
    for tensor in (torch.ones(2, 3), torch.nn.Parameter(torch.ones(2))):
        with pytest.raises(AttributeError, match=said):
            setattr(tensor, name, 3)
        with pytest.raises(AttributeError, match=said):
            delattr(tensor, name)



def test_a_refused_indexed_write_writes_nothing() -> None:
    x = torch.zeros(3, 4)
    with pytest.raises(IndexError, match="^index 9 is out of bounds for dimension 0 with size 3"):
        x[torch.tensor([0, 9])] = 1
    assert (x._version, bool(x.any())) == (0, False)


def test_one_value_for_a_mask_is_cast_as_a_number_is() -> None:
    x = torch.zeros(3)
    x[torch.tensor([True, False, True])] = torch.tensor([2.], dtype=torch.float64)
    assert x.tolist() == [2, 0, 2]
    with pytest.raises(RuntimeError, match="^Index put requires the source and destination dtypes match"):
        x[torch.tensor([0])] = torch.tensor([2.], dtype=torch.float64)


def test_strides_of_sizes_one_and_none() -> None:
    x = torch.zeros(3, 4)
    assert x.unsqueeze(1).stride() == (4, 4, 1)
    assert x.expand(1, 3, 4).stride() == (12, 4, 1)
    assert x[:, :0].t().stride() == (1, 4)
    assert torch.zeros(2, 0, 3).stride() == (3, 3, 1)
    assert torch.empty_strided((2, 3), (1, 2)).t().is_contiguous()


def test_memory_formats() -> None:
    x = torch.zeros(2, 3, 4, 5)
    last = x.contiguous(memory_format=torch.channels_last)
    assert last.stride() == x.clone(memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    assert last.is_contiguous(memory_format=torch.channels_last)
    assert not last.is_contiguous()
    with pytest.raises(RuntimeError, match="^required rank 4 tensor to use channels_last format"):
        x[0].contiguous(memory_format=torch.channels_last)


def test_what_is_no_operand_is_left_to_python() -> None:
    x = torch.ones(2)
    for other in ("a", None, [1], {}):
        with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \+=: 'Tensor' and "):
            x += other
    x += np.float32(1)
    assert x.tolist() == [2, 2]
