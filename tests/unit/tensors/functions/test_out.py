"""`out=` and `resize_`: what PyTorch does, as recorded from it, and what an array cannot do."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from noting import whole


def test_the_result_is_written_and_out_itself_returned() -> None:
    x, out = torch.tensor([1.0, 2.0]), torch.zeros(2)
    memory = out.numpy()
    assert torch.add(x, 10, alpha=2, out=out) is out
    assert memory.tolist() == [21.0, 22.0]
    assert out._version == 1
    assert not out.requires_grad
    assert out.grad_fn is None
    assert torch.exp(x, out=None).tolist() == torch.exp(x).tolist()


def test_out_may_be_an_operand() -> None:
    x = torch.tensor([1.0, 2.0])
    assert torch.mul(x, x, out=x) is x
    assert x.tolist() == [1.0, 4.0]


def test_several_results_go_to_a_tuple() -> None:
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    found = torch.max(x, 1, out=(values, indices))
    assert found.values is values
    assert found.indices is indices
    assert values.tolist() == [3.0, 5.0]
    assert indices.tolist() == [0, 1]
    assert repr(found).startswith("torch.return_types.max_out(\nvalues=tensor([3., 5.])")
    with pytest.raises(TypeError, match="expected tuple of 2 elements but got 1"):
        torch.max(x, 1, out=(values,))
    with pytest.raises(TypeError, match="must be tuple of Tensors, not Tensor"):
        torch.topk(x, 1, out=values)


def test_a_result_is_cast_where_its_kind_allows() -> None:
    x, wide = torch.tensor([1.5, 2.5]), torch.zeros(2, dtype=torch.float64)
    assert torch.sqrt(x, out=wide).dtype is torch.float64
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.exp(x, out=torch.zeros(2, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        torch.mm(torch.eye(2), torch.eye(2), out=torch.zeros(2, 2, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch.abs(x, out=wide)
    with pytest.raises(TypeError, match=r"torch.cat\(\): input types can't be cast to the desired output type Int"):
        torch.cat([x, x], out=torch.zeros(4, dtype=torch.int32))


def test_a_sum_is_computed_in_the_type_of_out() -> None:
    x = torch.tensor([1e8, 1.0, -1e8])
    assert torch.sum(x, 0, out=torch.zeros((), dtype=torch.float64)).item() == 1.0
    assert torch.zeros(2, out=torch.ones(2, dtype=torch.int64)).dtype is torch.int64
    with pytest.raises(RuntimeError, match=r"dtype Double does not match dtype of out parameter \(Float\)"):
        torch.zeros(2, dtype=torch.float64, out=torch.ones(2))


@pytest.mark.parametrize("tracked", ["argument", "out"])
def test_gradients_are_refused_and_nothing_is_written(tracked: str) -> None:
    x, out = torch.tensor([1.0, 2.0]), torch.zeros(2)
    (x if tracked == "argument" else out).requires_grad_()
    with pytest.raises(RuntimeError, match=r"^exp\(\): functions with out=... arguments don't support automatic"):
        torch.exp(x, out=out)
    assert out.tolist() == [0.0, 0.0]
    assert out._version == 0
    with torch.no_grad():
        assert torch.exp(x, out=out) is out
    assert out._version == 1
    assert out.requires_grad == (tracked == "out")


def test_composed_functions_are_refused_in_the_words_of_what_they_are_made_of() -> None:
    x = torch.ones(2, requires_grad=True)
    for call, name in ((torch.square, "pow"), (torch.negative, "neg"), (torch.arccos, "acos")):
        with pytest.raises(RuntimeError, match=rf"^{name}\(\): functions with out="):
            call(x, out=torch.zeros(2))


def test_what_has_no_derivative_is_not_refused() -> None:
    x, out = torch.tensor([1.0, -1.0], requires_grad=True), torch.zeros(2)
    assert torch.gt(x, 0, out=out).tolist() == [1.0, 0.0]
    assert not out.requires_grad
    torch.softmax(x, 0, out=out)
    assert out.requires_grad
    assert type(out.grad_fn).__name__ == "NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for aten::softmax is not implemented"):
        out.sum().backward()


def test_tensordot_records_a_copy_to_out() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    out = torch.zeros(())
    assert torch.inner(x, torch.tensor([3.0, 4.0]), out=out) is out
    out.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 4.0]


def test_another_shape_is_resized_with_a_warning() -> None:
    x, out = torch.tensor([1.0, 2.0]), torch.zeros(3)
    with pytest.warns(UserWarning, match=r"it had shape \[3\], which does not match the required output shape \[2\]"
                      ) as caught:
        torch.neg(x, out=out)
    assert caught[0].filename == __file__
    assert out.tolist() == [-1.0, -2.0]
    assert out._version == 1


def test_an_empty_out_is_resized_silently() -> None:
    out = torch.empty(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.neg(torch.ones(2, 3).t(), out=out).shape == (3, 2)
    assert out.stride() == (1, 3)


def test_strides_of_out_stay() -> None:
    out = torch.zeros(3, 2).t()
    torch.add(torch.ones(2, 3), 1, out=out)
    assert out.stride() == (1, 2)
    assert out.sum().item() == 12.0


def test_a_view_may_be_written_to() -> None:
    base = torch.zeros(4)
    part = base[1:3]
    assert torch.neg(torch.ones(2), out=part) is part
    assert base.tolist() == [0.0, -1.0, -1.0, 0.0]
    assert base._version == part._version == 1
    with pytest.warns(UserWarning, match="was resized"):
        torch.neg(torch.ones(3), out=part)                     # there is room for it behind
    assert base.tolist() == [0.0, -1.0, -1.0, -1.0]
    assert part.shape == (3,)


def test_memory_that_others_hold_cannot_grow() -> None:
    base = torch.zeros(4)
    part = base[1:3]
    with pytest.warns(UserWarning, match="was resized"), pytest.raises(
            RuntimeError, match="Trying to resize storage that is not resizable"):
        torch.neg(torch.ones(5), out=part)
    assert part.shape == (2,)
    assert base.tolist() == [0.0] * 4
    assert base._version == 0


@pytest.mark.parametrize("shift", [1, 2])
def test_partial_overlap_is_refused(shift: int) -> None:
    memory = torch.arange(6.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        torch.exp(memory[:4], out=memory[shift:shift + 4])
    assert memory.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_what_gathers_may_not_write_over_what_it_reads() -> None:
    x = torch.tensor([3.0, 1.0])
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        torch.index_select(x, 0, torch.tensor([1, 0]), out=x)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.exp(x, out=torch.zeros(1).expand(2))
    assert x.tolist() == [3.0, 1.0]


def test_a_product_may_be_written_over_its_factor() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.mm(x, x, out=x).tolist() == [[7.0, 10.0], [15.0, 22.0]]


def test_a_write_to_out_makes_a_saved_value_stale() -> None:
    x, z = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
    product = x * z
    torch.exp(torch.zeros(2), out=z)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as refused:
        product.sum().backward()
    assert "is at version 1; expected version 0" in str(refused.value)
    assert "test_out.py:" in whole(refused.value)


def test_inference_tensors_are_written_in_inference_mode_only() -> None:
    with torch.inference_mode():
        out = torch.zeros(2)
        torch.exp(torch.zeros(2), out=out)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        torch.neg(torch.ones(2), out=out)
    assert out.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("call", "words"), [
    (lambda: torch.exp(torch.ones(1), out="x"), r"exp\(\): argument 'out' must be Tensor, not str"),
    (lambda: torch.exp(torch.ones(1), out=(torch.ones(1),)), r"exp\(\): argument 'out' must be Tensor, not tuple"),
    (lambda: torch.relu(torch.ones(1), out=torch.ones(1)), r"relu\(\) got an unexpected keyword argument 'out'"),
    (lambda: torch.max(torch.ones(1), 0, out=("x", "y")), r"expected Tensor as element 0 .* but got str"),
])
def test_what_is_no_out_is_refused(call: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call()


def test_a_range_takes_an_out_of_as_many_elements() -> None:
    out = torch.zeros(3, 1)
    assert torch.arange(3, out=out).tolist() == [[0.0], [1.0], [2.0]]
    with pytest.warns(UserWarning, match=r"of shape \[3, 1\] is 3 which does not match the computed number of"):
        torch.arange(4, out=out)
    assert out.shape == (4,)


def test_random_numbers_fill_the_memory_in_order() -> None:
    turned = torch.zeros(3, 2).t()
    torch.manual_seed(0)
    torch.rand(2, 3, out=turned)
    torch.manual_seed(0)
    assert turned.t().reshape(-1).tolist() == torch.rand(6).tolist()


@pytest.mark.usefixtures("no_collector")
def test_no_graph_is_kept_and_nothing_leaks() -> None:
    x, out = torch.ones(3), torch.zeros(3)
    torch.exp(x, out=out)
    gone = weakref.ref(out)
    del out
    assert gone() is None


def test_resize_keeps_the_memory_while_it_is_large_enough() -> None:
    x = torch.arange(6.0)
    memory = x.numpy()
    assert x.resize_(2, 2) is x
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert np.shares_memory(x.numpy(), memory)
    assert x._version == 1
    assert x.resize_(6).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert x._version == 2
    assert x.resize_(6)._version == 2                          # nothing to do, nothing counted


def test_resize_takes_more_memory_where_nobody_looks() -> None:
    x = torch.arange(2.0)
    x.add_(1)
    x.resize_(2, 2)
    assert x[0].tolist() == [1.0, 2.0]
    assert x._version == 2
    x.add_(1)
    assert x._version == 3
    y = torch.zeros(2)
    kept = y.numpy()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        y.resize_(3)
    assert y.shape == (2,)
    assert np.shares_memory(y.numpy(), kept)


@pytest.mark.parametrize("grad_mode", [torch.enable_grad, torch.no_grad])
def test_what_requires_grad_is_not_resized(grad_mode: Any) -> None:
    with grad_mode(), pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.zeros(2, requires_grad=True).resize_(2)


def test_resize_lays_the_memory_out_in_a_memory_format() -> None:
    x = torch.arange(24.0)
    x.resize_((2, 3, 2, 2), memory_format=torch.channels_last)
    assert x.stride() == (12, 1, 6, 3)
    assert x[0, :, 0, 0].tolist() == [0.0, 1.0, 2.0]
    assert x._version == 1
    x.resize_((2, 3, 2, 2), memory_format=torch.contiguous_format)
    assert x.is_contiguous()
    assert x.flatten().tolist() == [*range(24)]
    assert x._version == 1                                     # the shape is the same
    assert torch.arange(4.0).resize_((2, 3, 2, 2), memory_format=torch.channels_last).stride() == (12, 1, 6, 3)
    like = torch.ones(2, 3, 2, 2).to(memory_format=torch.channels_last)
    assert torch.arange(24.0).resize_as_(like).is_contiguous()
    assert torch.arange(24.0).resize_as_(like, memory_format=torch.preserve_format).stride() == like.stride()


def test_resize_refuses_a_format_that_does_not_fit() -> None:
    x = torch.arange(24.0)
    with pytest.raises(RuntimeError, match="^required rank 4 tensor to use channels_last format"):
        x.resize_((2, 3, 4), memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="^Unsupported memory formatPreserve"):
        x.resize_(2, memory_format=torch.preserve_format)
    with pytest.raises(TypeError, match="must be torch.memory_format, not str"):
        x.resize_(2, memory_format="channels_last")
    assert x.shape == (24,)
