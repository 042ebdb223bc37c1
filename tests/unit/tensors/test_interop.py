"""Tensors and NumPy, Python's numbers, copies, pickles, text, types and devices. The facts are PyTorch's."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch
from retrograd.foundations import dtypes
from retrograd.ops import basic
from retrograd.ops.elementwise import arithmetic

NO_NUMPY = ("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


def leaf() -> torch.Tensor:
    return torch.tensor([1.0, 2.0], requires_grad=True)


class TestArrays:
    @pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
    def test_a_bool_of_a_complex_number_looks_at_both_parts(self, dtype: Any) -> None:
        array = np.array([[1j, 0], [2, math.nan * 1j]], dtype).T
        assert torch.tensor(array, dtype=torch.bool).tolist() == [[True, True], [False, True]]
        assert torch.tensor(array[0, 0, None].reshape(()), dtype=torch.bool).item() is True
        assert torch.tensor(array[:0], dtype=torch.bool).shape == (0, 2)

    def test_a_complex_number_of_numpy_in_a_list_becomes_bool(self) -> None:
        assert torch.tensor([np.complex128(1j), np.complex128(0), 1], dtype=torch.bool).tolist() == [True, False, True]
        with pytest.raises(TypeError, match=r"^'numpy\.complex64' object cannot be interpreted as an integer"):
            torch.tensor([np.complex64(1j)], dtype=torch.bool)

    @pytest.mark.parametrize("dtype", dtypes.ALL)
    def test_memory_is_shared_both_ways(self, dtype: torch.dtype) -> None:
        array = np.zeros(3, dtype.dtype)
        tensor = torch.from_numpy(array)
        assert tensor.dtype is dtype
        array[0] = 1
        tensor.numpy()[1] = 1
        np.asarray(tensor)[2] = 1
        assert tensor.tolist() == array.tolist() == np.ones(3, dtype.dtype).tolist()

    def test_requires_grad(self) -> None:
        tensor = leaf()
        for ask in (tensor.numpy, lambda: np.asarray(tensor), lambda: np.array([tensor])):
            with pytest.raises(RuntimeError) as caught:
                ask()
            assert str(caught.value) == NO_NUMPY
        assert tensor.numpy(force=True).tolist() == [1, 2]
        with torch.no_grad():
            assert tensor.numpy().tolist() == [1, 2]
        with pytest.raises(TypeError, match=r"numpy\(\): argument 'force' must be bool, not int"):
            tensor.numpy(force=1)

    def test_array_protocol(self) -> None:
        tensor = torch.ones(2)
        assert np.asarray(tensor, dtype=np.int64).dtype == np.int64
        copied = np.array(tensor)
        copied[0] = 5
        assert tensor.tolist() == [1, 1]
        with pytest.raises(ValueError, match="Unable to avoid copy"):
            np.array(tensor, dtype=np.float64, copy=False)

    def test_the_shape_of_an_array_is_its_own(self) -> None:
        tensor = torch.zeros(2, 3)
        tensor.numpy().resize((6,), refcheck=False)
        assert tensor.shape == (2, 3)

    @pytest.mark.parametrize(("array", "error", "message"), [
        ([1.0], TypeError, "expected np.ndarray (got list)"),
        (np.float64(1), TypeError, "expected np.ndarray (got numpy.float64)"),
        (np.ones(2, object), TypeError, "can't convert np.ndarray of type numpy.object_"),
        (np.zeros(2, "M8[s]"), TypeError, "can't convert np.ndarray of type numpy.datetime64"),
        (np.ones(2)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
        (np.ndarray((2, 2), np.float32, bytearray(40), strides=(6, 4)), ValueError,
         "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "),
        (np.ones(2, ">f8"), ValueError, "given numpy array has byte order different from the native byte order"),
    ])
    def test_from_numpy_refuses(self, array: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error) as caught:
            torch.from_numpy(array)
        assert str(caught.value).startswith(message)

    def test_as_tensor_and_asarray(self) -> None:
        array, tensor = np.zeros(2), torch.zeros(2)
        assert torch.as_tensor(tensor) is torch.asarray(tensor) is tensor
        for share in (torch.as_tensor, torch.asarray):
            share(array).numpy()[0] += 1
        assert array.tolist() == [2, 0]
        assert torch.as_tensor(array, dtype=torch.float32).dtype is torch.float32
        assert torch.as_tensor([1, 2.5]).tolist() == [1, 2.5]
        assert torch.asarray(tensor, copy=True) is not tensor
        with pytest.warns(UserWarning, match="^The given buffer is not writable"):
            assert torch.asarray(b"ab", dtype=torch.uint8, copy=True).tolist() == [97, 98]
        assert torch.asarray([1.0], requires_grad=True).requires_grad
        assert torch.frombuffer(bytearray(8), dtype=torch.float32, count=1, offset=4).tolist() == [0]
        with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
            torch.asarray([1.0], copy=False)
        with pytest.raises(ValueError, match="can't alias tensor with dtype 'Float' into dtype 'Double'"):
            torch.asarray(tensor, dtype=torch.float64, copy=False)
        with pytest.raises(ValueError, match="must be a multiple of element size"):
            torch.frombuffer(bytearray(7), dtype=torch.float32)

    def test_dlpack(self) -> None:
        tensor = torch.ones(2)
        assert np.from_dlpack(tensor).tolist() == [1, 1]
        assert torch.from_dlpack(np.ones(2)).dtype is torch.float64
        assert tensor.__dlpack_device__() == (1, 0)
        with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
            np.from_dlpack(leaf())


class TestDispatch:
    """NumPy called with tensors."""

    def test_a_ufunc_is_its_operator(self) -> None:
        tensor = leaf()
        for result in (np.multiply(tensor, tensor), np.multiply(tensor, tensor, out=...),
                       arithmetic.mul(tensor, tensor)):
            assert type(result.grad_fn).__name__ == "MulBackward0"
        assert np.add([1, 2], tensor).tolist() == [2, 4]
        assert (np.ones(2) + tensor).dtype is torch.float64

    def test_a_numpy_scalar_is_a_python_number(self) -> None:
        assert (np.float64(2) * leaf()).dtype is torch.float32

    def test_without_gradients_numpy_computes(self) -> None:
        tensor = torch.ones(3)
        target = np.zeros(3)
        target += tensor
        assert target.tolist() == [1, 1, 1]
        assert np.add(tensor, 1, out=target) is target
        assert isinstance(np.spacing(tensor), torch.Tensor)
        assert np.median(tensor) == 1
        assert np.heaviside(torch.zeros(2), 0.5).tolist() == [0.5, 0.5]
        assert [part.shape for part in np.broadcast_arrays(tensor, np.ones((2, 1)))] == [(2, 3), (2, 3)]
        assert np.sum(tensor, where=[True, False, True]) == 2
        np.testing.assert_allclose(tensor, np.ones(3))

    @pytest.mark.parametrize("call", [
        np.median, lambda t: np.add(t, 1, out=np.zeros(2)), lambda t: np.add.outer(t, t), np.spacing,
        np.modf])
    def test_a_gradient_is_not_lost(self, call: Any) -> None:
        with pytest.raises(TypeError, match="cannot be recorded"):
            call(leaf())
        with torch.no_grad():
            call(leaf())

    def test_out_is_no_tensor(self) -> None:
        with pytest.raises(TypeError, match="out= must be an array, not a Tensor"):
            np.add(1, 1, out=torch.zeros(()))

    def test_facts(self) -> None:
        tensor = leaf()
        assert (np.shape(tensor), np.ndim(tensor), np.size(tensor), np.iscomplexobj(tensor)) == ((2,), 1, 2, False)
        assert np.full_like(tensor.detach(), 2).tolist() == [2, 2]
        with pytest.raises(RuntimeError, match=r"^Can't call numpy\(\) on Tensor that requires grad"):
            np.zeros_like(tensor)

    def test_it_gives_way_to_what_it_does_not_know(self) -> None:
        class Other:
            __array_ufunc__ = None

            def __radd__(self, other: Any) -> str:
                return "other"

            def __array_function__(self, *_: Any) -> str:
                return "other"

        assert leaf().__array_ufunc__(np.nextafter, "__call__", leaf(), Other()) is NotImplemented
        assert np.vdot(leaf(), Other()) == "other"


class TestNumbers:
    @given(st.integers(-2**40, 2**40) | st.floats() | st.booleans() | st.complex_numbers())
    def test_item_is_the_number(self, value: Any) -> None:
        item = torch.tensor(value, dtype={int: torch.int64, float: torch.float64, bool: torch.bool,
                                          complex: torch.complex128}[type(value)]).item()
        assert type(item) is type(value)
        assert repr(item) == repr(value)

    def test_of_more_elements_or_none(self) -> None:
        two = torch.ones(2)
        for ask, error, message in (
                (two.item, RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
                (lambda: bool(two), RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
                (lambda: bool(torch.ones(0)), RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
                (lambda: int(two), ValueError, "only one element tensors can be converted to Python scalars"),
                (lambda: float(two), ValueError, "only one element tensors can be converted to Python scalars"),
                (lambda: [0][two], TypeError, "only integer tensors of a single element can be converted to an index"),
                (lambda: [0][torch.tensor(1.0)], TypeError, "only integer tensors of a single element"),
                (lambda: len(torch.tensor(1.0)), TypeError, "len() of a 0-d tensor"),
                (lambda: int(torch.tensor(1j)), RuntimeError, "value cannot be converted to type int64_t without"),
                (lambda: float(torch.tensor(1j)), RuntimeError, "value cannot be converted to type double without"),
                (lambda: "a" in two, RuntimeError, "Tensor.__contains__ only supports Tensor or scalar")):
            with pytest.raises(error) as caught:
                ask()
            assert str(caught.value).startswith(message)

    def test_conversions(self) -> None:
        assert (int(torch.tensor([2.7])), float(torch.tensor(2)), complex(torch.tensor(1))) == (2, 2.0, 1 + 0j)
        assert [1, 2, 3][torch.tensor([1])] == 2
        assert bool(torch.tensor([[1j]]))
        assert not torch.tensor(0.0)
        assert (math.floor(torch.tensor(2.5)), len(torch.ones(3, 1))) == (2, 3)
        assert float(leaf().detach().numpy()[1]) in leaf()
        assert 3 not in leaf()

    def test_tolist(self) -> None:
        assert torch.zeros(2, 2).tolist() == [[0, 0], [0, 0]]
        assert torch.zeros(0, 3).tolist() == []
        assert torch.tensor(1.5).tolist() == 1.5


class TestText:
    def test_repr_says_what_it_is(self) -> None:
        tensor = leaf()
        assert repr(tensor) == str(tensor) == "tensor([1., 2.], requires_grad=True)"
        assert repr(tensor * 2) == "tensor([2., 4.], grad_fn=<MulBackward0>)"
        assert repr(tensor.detach()) == "tensor([1., 2.])"

        class Sub(torch.Tensor):
            pass

        sub = torch.zeros(2)
        sub.__class__ = Sub
        assert repr(sub) == "Sub([0., 0.])"

    def test_format(self) -> None:
        assert f"{torch.tensor(1.5):.2f}" == "1.50"
        assert f"{torch.tensor(1.5)}" == "1.5"
        assert f"{torch.ones(1)}" == "tensor([1.])"
        with pytest.raises(TypeError, match="unsupported format string"):
            f"{torch.ones(1):.2f}"


class TestDetach:
    def test_it_shares_memory_and_version(self) -> None:
        product = leaf() * 2
        detached = product.detach()
        assert not detached.requires_grad
        assert detached.is_leaf
        assert detached._base is None
        detached.mul_(2)
        assert product.tolist() == [4, 8]
        assert product._version == detached._version == 1

    def test_a_saved_value_is_guarded(self) -> None:
        tensor = leaf()
        detached = (product := tensor * tensor).detach()
        result = product * product
        detached.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.backward(torch.ones(2))

    def test_data_has_a_version_of_its_own(self) -> None:
        tensor = leaf()
        product = tensor * tensor
        result = product * product
        product.data.mul_(2)
        assert product._version == 0
        assert product.tolist() == [2, 8]
        result.backward(torch.ones(2))

    def test_detach_in_place(self) -> None:
        product = leaf() * 2
        assert product.detach_() is product
        assert not product.requires_grad
        parameter = leaf()
        parameter.detach_()
        assert not parameter.requires_grad
        with pytest.raises(RuntimeError, match="Can't detach views in-place"):
            basic.real(torch.ones(2, dtype=torch.complex64)).detach_()

    def test_setting_data(self) -> None:
        parameter = leaf()
        (parameter * parameter).backward(torch.ones(2))
        parameter.data = torch.zeros(3, dtype=torch.float64)
        parameter.grad = None
        (parameter * 2).backward(torch.ones(3, dtype=torch.float64))
        assert parameter.grad.tolist() == [2, 2, 2]
        assert parameter.grad.dtype is torch.float64
        with pytest.raises(RuntimeError, match="data set to a tensor that requires gradients must be floating point"):
            parameter.data = torch.zeros(2, dtype=torch.int64)
        with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
            parameter.data = [1.0]


class TestCopies:
    def test_deepcopy(self) -> None:
        tensor = leaf()
        tensor.note = [1]
        tensor.grad = torch.ones(2)
        twin = copy.deepcopy(tensor)
        assert twin.requires_grad
        assert twin.note == [1]
        assert twin.note is not tensor.note
        assert twin.grad is not tensor.grad
        assert twin.grad.tolist() == [1, 1]
        twin.numpy(force=True)[0] = 9
        assert tensor.tolist() == [1, 2]
        with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
            copy.deepcopy(tensor * 2)

    def test_deepcopy_keeps_what_shares_memory_together(self) -> None:
        memory = torch.zeros(3, 4)
        both = copy.deepcopy([memory, memory.T[1:]])
        both[0].numpy()[2, 3] = 5
        assert both[1].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 5]]
        assert not memory.any()
        apart = copy.deepcopy([torch.from_numpy(memory.numpy()), torch.from_numpy(memory.numpy()[1:])])
        assert not torch.equal(apart[0].add_(1)[1:], apart[1])
        same = leaf()
        first, second = copy.deepcopy([same, same])
        assert first is second

    def test_copy_shares_memory(self) -> None:
        tensor = leaf()
        twin = copy.copy(tensor)
        assert twin is not tensor
        assert twin.requires_grad
        assert np.shares_memory(twin, tensor)

    @pytest.mark.parametrize("dtype", dtypes.ALL)
    def test_pickle(self, dtype: torch.dtype) -> None:
        tensor = torch.ones(2, 0, 3, dtype=dtype)
        back = pickle.loads(pickle.dumps(tensor))
        assert (back.dtype, back.shape) == (tensor.dtype, tensor.shape)
        assert pickle.loads(pickle.dumps(dtype)) is dtype

    def test_pickle_of_a_leaf_and_of_what_is_none(self) -> None:
        for tensor in (leaf(), leaf() * 2):
            tensor.note = 3
            back = pickle.loads(pickle.dumps(tensor))
            assert back.is_leaf
            assert back.requires_grad
            assert back.note == 3
            assert (back * back).dtype is torch.float32      # its NumPy dtype is the one everything compares with


class TestTypes:
    def test_to_is_the_same_object_where_nothing_changes(self) -> None:
        tensor = leaf()
        assert tensor.to(torch.float32) is tensor.to("cpu") is tensor.to(torch.device("cpu"), torch.float32) is tensor
        assert tensor.float() is tensor.to(tensor) is tensor.cpu() is tensor.type(torch.float32) is tensor
        assert type(tensor.to(torch.float32, copy=True).grad_fn).__name__ == "ToCopyBackward0"

    @pytest.mark.parametrize("name", ["half", "float", "double", "cfloat", "cdouble", "char", "short", "int", "long",
                                      "byte", "bool"])
    def test_shorthands(self, name: str) -> None:
        dtype = {"char": torch.int8, "byte": torch.uint8}.get(name) or getattr(torch, name)
        assert getattr(torch.ones(2), name)().dtype is dtype
        assert torch.ones(2).to(dtype).type() == f"torch.{dtype.legacy}Tensor"
        assert torch.ones(2).type(f"torch.{dtype.legacy}Tensor").dtype is dtype

    def test_gradients_flow_back_in_the_type_they_came_from(self) -> None:
        tensor = leaf()
        tensor.double().backward(torch.ones(2, dtype=torch.float64))
        assert tensor.grad.dtype is torch.float32
        assert not tensor.to(torch.int64).requires_grad

    def test_refused(self) -> None:
        tensor = torch.ones(2)
        for ask in (tensor.cuda, lambda: tensor.to("cuda"), lambda: torch.zeros(2, device="cuda:0")):
            with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
                ask()
        with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments"):
            tensor.to([1])
        with pytest.raises(ValueError, match="invalid type: 'torch.foo'"):
            tensor.type("torch.foo")
        with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary part"):
            torch.tensor(1j).float()

    def test_facts(self) -> None:
        tensor = torch.ones(2, 3)
        assert (tensor.is_cpu, tensor.is_cuda, tensor.is_sparse, tensor.is_quantized) == (True, False, False, False)
        assert (tensor.layout, tensor.itemsize, tensor.nbytes) == (torch.strided, 4, 24)
        assert (tensor.is_floating_point(), tensor.is_complex(), tensor.is_signed()) == (True, False, True)
        assert repr(tensor.layout) == "torch.strided"
        assert torch.is_tensor(tensor)
        assert not torch.is_tensor(tensor.numpy())
        with pytest.raises(TypeError, match=r"is_complex\(\): argument 'input' \(position 1\) must be Tensor, not int"):
            torch.is_complex(1)

    def test_promotion(self) -> None:
        assert torch.result_type(torch.ones(2), torch.tensor(1.0, dtype=torch.float64)) is torch.float32
        assert torch.result_type(torch.tensor([1]), 2.5) is torch.float32
        assert torch.promote_types(torch.int8, torch.uint8) is torch.int16
        assert torch.can_cast(torch.float64, torch.float16)
        assert not torch.can_cast(torch.float32, torch.int64)
