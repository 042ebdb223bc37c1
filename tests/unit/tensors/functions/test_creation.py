"""Tensors from data, filled, ranged, random. Values of PyTorch's were recorded from it."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch
from retrograd.foundations import dtypes


@pytest.fixture
def _default_float64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def nested(shape: tuple[int, ...], values: Iterator[Any]) -> Any:
    if not shape:
        return next(values)
    return [nested(shape[1:], values) for _ in range(shape[0])]


class TestData:
    @given(st.lists(st.integers(1, 3), max_size=4), st.data())
    def test_nested_lists_have_the_shape_and_the_numbers(self, shape: list[int], data: st.DataObject) -> None:
        count = math.prod(shape)
        numbers = data.draw(st.lists(st.floats(width=32), min_size=count, max_size=count))
        tensor = torch.tensor(nested(tuple(shape), iter(numbers)))
        assert tensor.shape == tuple(shape)
        np.testing.assert_array_equal(tensor.numpy().ravel(), np.array(numbers, np.float32))

    @pytest.mark.parametrize(("data", "dtype"), [
        (1, torch.int64), (1.0, torch.float32), (True, torch.bool), (1j, torch.complex64),
        ([1, True], torch.int64), ([1, 2.0], torch.float32), ([True, 1j], torch.complex64), ([], torch.float32),
        (np.float64(1), torch.float64), ([np.float64(1)], torch.float64), ([np.int8(1), 2.5], torch.float32),
        (np.ones(2, np.int16), torch.int16), ([np.ones(2), np.ones(2)], torch.float64), (range(3), torch.int64),
    ])
    def test_dtype_found_from_the_data(self, data: Any, dtype: torch.dtype) -> None:
        assert torch.tensor(data).dtype is dtype

    @pytest.mark.usefixtures("_default_float64")
    def test_default_dtype(self) -> None:
        assert torch.tensor([1.0]).dtype is torch.float64
        assert torch.tensor(1j).dtype is torch.complex128
        assert torch.zeros(1).dtype is torch.arange(1.0).dtype is torch.rand(1).dtype is torch.float64

    @pytest.mark.parametrize(("data", "error", "message"), [
        ([[1, 2], [1, 2, 3]], ValueError, "expected sequence of length 2 at dim 1 (got 3)"),
        ([[[1]], [[2, 3]]], ValueError, "expected sequence of length 1 at dim 2 (got 2)"),
        ([[1, 2], 3], TypeError, "not a sequence"),
        ([1, [2]], TypeError, "'list' object cannot be interpreted as an integer"),
        ([1.0, [2]], TypeError, "must be real number, not list"),
        ("a", TypeError, "new(): invalid data type 'str'"),
        (["a"], ValueError, "too many dimensions 'str'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([1, None], RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, RuntimeError, "Could not infer dtype of dict"),
        (2**63, ValueError, "Overflow when unpacking long long"),
        ([np.array(1.0)], TypeError, "len() of unsized object"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
        (np.arange(3)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
        (np.ones(2, ">f4"), ValueError, "given numpy array has byte order different from the native byte order"),
    ])
    def test_what_is_refused(self, data: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error) as caught:
            torch.tensor(data)
        assert str(caught.value).startswith(message)

    def test_a_copy(self) -> None:
        array = np.zeros(2)
        tensor = torch.tensor(array)
        array[0] = 1
        assert tensor.tolist() == [0.0, 0.0]

    def test_of_a_tensor_it_warns(self) -> None:
        with pytest.warns(UserWarning, match="To copy construct from a tensor"):
            copy = torch.tensor(torch.ones(2, requires_grad=True))
        assert not copy.requires_grad

    def test_a_complex_tensor_as_bools_is_true_unless_both_parts_are_zero(self) -> None:
        with pytest.warns(UserWarning, match="To copy construct from a tensor"):
            copy = torch.tensor(torch.tensor([1j, 0j, 2.0]), dtype=torch.bool)
        assert copy.tolist() == [True, False, True]

    def test_of_tensors_with_one_element(self) -> None:
        tensor = torch.tensor([torch.tensor(1.0, requires_grad=True), torch.tensor([2])])
        assert tensor.tolist() == [1.0, 2.0]
        assert not tensor.requires_grad
        with pytest.raises(ValueError, match="only one element tensors"):
            torch.tensor([torch.ones(2)])

    @pytest.mark.parametrize("dtype", dtypes.ALL)
    def test_requires_grad(self, dtype: torch.dtype) -> None:
        if dtype.is_floating_point or dtype.is_complex:
            assert torch.tensor(1, dtype=dtype, requires_grad=True).requires_grad
        else:
            with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require"):
                torch.tensor(1, dtype=dtype, requires_grad=True)

    def test_numbers_that_do_not_fit(self) -> None:
        assert torch.tensor(-1, dtype=torch.uint8).item() == 255
        assert torch.tensor(1e40).item() == math.inf
        assert torch.tensor(2.7, dtype=torch.int8).item() == 2
        with pytest.raises(RuntimeError, match="value cannot be converted to type uint8 without overflow"):
            torch.tensor([256], dtype=torch.uint8)
        with pytest.raises(RuntimeError, match="value cannot be converted to type int64 without overflow"):
            torch.tensor(math.nan, dtype=torch.int64)


class TestFilled:
    @pytest.mark.parametrize("make", [torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn])
    def test_sizes(self, make: Any) -> None:
        assert make(2, 3).shape == make((2, 3)).shape == make([2, 3]).shape == make(size=(2, 3)).shape == (2, 3)
        assert make(()).shape == ()
        assert make(torch.tensor(2), np.int64(3)).shape == (2, 3)
        assert make(0, 2).shape == (0, 2)
        for wrong in (2.5, "a", True, None):
            with pytest.raises(TypeError, match="must be tuple of ints, not"):
                make(wrong)
        with pytest.raises(RuntimeError, match="negative"):
            make(2, -1)
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            make(2, device="cuda")

    @given(st.booleans() | st.integers(-128, 127) | st.floats(width=32) | st.complex_numbers(width=64))
    def test_full_takes_the_type_of_its_number(self, value: Any) -> None:
        full, one = torch.full((2, 2), value), torch.tensor(value)
        assert full.dtype is one.dtype
        np.testing.assert_array_equal(full.numpy(), np.full((2, 2), one.numpy()))

    def test_full_refuses(self) -> None:
        for dtype, value, kind in ((torch.uint8, 256, "uint8_t"), (torch.float32, 1e40, "float"),
                                   (torch.float32, 1j, "float"), (torch.int64, math.nan, "int64_t")):
            with pytest.raises(RuntimeError, match=f"value cannot be converted to type {kind} without overflow"):
                torch.full((2,), value, dtype=dtype)

    def test_like_keeps_type_and_order_in_memory(self) -> None:
        turned = torch.from_numpy(np.zeros((2, 3, 4), np.float64).transpose(2, 0, 1))
        for like in (torch.zeros_like, torch.ones_like, torch.empty_like, torch.rand_like, torch.randn_like):
            new = like(turned)
            assert new.dtype is torch.float64
            assert new.numpy().strides == turned.numpy().strides
            assert like(turned, memory_format=torch.contiguous_format).numpy().flags.c_contiguous
        assert torch.full_like(turned, 2.5).numpy().strides == turned.numpy().strides

    def test_like_gives_an_expanded_tensor_memory_of_its_own(self) -> None:
        expanded = torch.from_numpy(np.ones((2, 3))).expand(4, 2, 3)
        assert torch.zeros_like(expanded).numpy().strides == (48, 24, 8)

    def test_new(self) -> None:
        tensor = torch.ones(2, dtype=torch.float64)
        for new in (tensor.new_zeros(3), tensor.new_ones((3,)), tensor.new_empty(3), tensor.new_full((3,), 2),
                    tensor.new_tensor([1, 2, 3])):
            assert new.dtype is torch.float64
            assert new.shape == (3,)

    def test_eye(self) -> None:
        np.testing.assert_array_equal(torch.eye(2, 3).numpy(), np.eye(2, 3, dtype=np.float32))
        with pytest.raises(RuntimeError, match="n must be greater or equal to 0, got -1"):
            torch.eye(-1)

    def test_complex_and_its_gradients(self) -> None:
        real = torch.ones(2, 1, requires_grad=True)
        imag = torch.full((3,), 2.0, requires_grad=True)
        z = torch.complex(real, imag)
        assert z.dtype is torch.complex64
        assert type(z.grad_fn).__name__ == "ComplexBackward0"
        z.backward(torch.full((2, 3), 3 + 4j))
        assert real.grad.tolist() == [[9.0], [9.0]]
        assert imag.grad.tolist() == [8.0, 8.0, 8.0]


class TestRanges:
    @given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-7, 7).filter(bool))
    def test_arange_of_integers_is_the_range(self, start: int, end: int, step: int) -> None:
        if (end - start) * step < 0:
            with pytest.raises(RuntimeError, match="upper bound and lower bound inconsistent with step sign"):
                torch.arange(start, end, step)
            return
        numbers = torch.arange(start, end, step)
        assert numbers.dtype is torch.int64
        assert numbers.tolist() == list(range(start, end, step))

    def test_arange_forms(self) -> None:
        assert torch.arange(3).tolist() == torch.arange(end=3).tolist() == torch.arange(0, end=3).tolist() == [0, 1, 2]
        assert torch.arange(3.0).dtype is torch.float32
        assert torch.arange(3.7, dtype=torch.int64).tolist() == [0, 1, 2]
        assert torch.arange(3.7, dtype=torch.int32).tolist() == [0, 1, 2, 3]
        with pytest.raises(RuntimeError, match="step must be nonzero"):
            torch.arange(0, 3, 0)
        with pytest.raises(RuntimeError, match="unsupported range: 0 -> inf"):
            torch.arange(math.inf)

    @given(st.floats(-100, 100), st.floats(-100, 100), st.integers(2, 60))
    def test_linspace_begins_and_ends_where_it_should(self, start: float, end: float, steps: int) -> None:
        numbers = torch.linspace(start, end, steps, dtype=torch.float64)
        assert (numbers.tolist()[0], numbers.tolist()[-1]) == (start, end)
        np.testing.assert_allclose(numbers.numpy(), np.linspace(start, end, steps), rtol=1e-12, atol=1e-12)

    def test_bits(self) -> None:
        assert torch.linspace(-1, 1.3, 6).tolist() == [
            -1.0, -0.5400000214576721, -0.08000004291534424, 0.3799999952316284, 0.8399999737739563, 1.2999999523162842]
        assert torch.logspace(-1, 0.7, 4).tolist() == [
            0.10000000149011612, 0.3686945140361786, 1.3593562841415405, 5.011872291564941]
        assert torch.arange(0.3, 7, 0.4).tolist()[15:] == [6.300000190734863, 6.699999809265137]

    def test_linspace_of_integers(self) -> None:
        assert torch.linspace(10, -3, 6, dtype=torch.int64).tolist() == [10, 7, 4, 2, 0, -3]
        assert torch.linspace(0, 1, 0).shape == (0,)
        assert torch.linspace(2, 5, 1).tolist() == [2.0]
        with pytest.raises(RuntimeError, match="number of steps must be non-negative"):
            torch.linspace(0, 1, -1)

    def test_indices_of_triangles(self) -> None:
        assert torch.tril_indices(3, 4, -1).tolist() == [[1, 2, 2], [0, 0, 1]]
        assert torch.triu_indices(2, 4, 1).tolist() == [[0, 0, 0, 1, 1], [1, 2, 3, 2, 3]]


class TestRandom:
    def test_streams(self) -> None:
        torch.manual_seed(0)
        assert torch.rand(3).tolist() == [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]
        torch.manual_seed(0)
        assert torch.randn(3).tolist() == [1.5409960746765137, -0.293428897857666, -2.1787893772125244]
        torch.manual_seed(0)
        assert torch.randint(10, (5,)).tolist() == [4, 9, 3, 0, 3]
        torch.manual_seed(0)
        assert torch.randperm(5).tolist() == [4, 0, 1, 3, 2]

    def test_a_generator_has_a_stream_of_its_own(self) -> None:
        first, second = torch.Generator().manual_seed(3), torch.Generator().manual_seed(3)
        torch.manual_seed(4)
        expected = torch.rand(4, generator=first)
        torch.rand(7)
        np.testing.assert_array_equal(torch.rand(4, generator=second).numpy(), expected.numpy())
        with pytest.raises(TypeError, match=r"rand\(\) received an invalid combination of arguments"):
            torch.rand(2, generator=3)

    def test_states(self) -> None:
        torch.manual_seed(5)
        state = torch.get_rng_state()
        assert (state.dtype, state.shape) == (torch.uint8, (5056,))
        drawn = torch.rand(3).tolist()
        torch.set_rng_state(state)
        assert torch.rand(3).tolist() == drawn
        with torch.random.fork_rng():
            torch.manual_seed(6)
        torch.set_rng_state(state)
        assert torch.rand(3, generator=torch.default_generator).tolist() == drawn
        restored = pickle.loads(pickle.dumps(torch.Generator().manual_seed(8)))
        assert restored.initial_seed() == 8
        assert torch.initial_seed() == 5

    @pytest.mark.parametrize(("fill", "name"), [
        (lambda t: t.uniform_(2, 3), "UniformBackward0"), (lambda t: t.normal_(), "NormalBackward0"),
        (lambda t: t.random_(), "RandomBackward2"), (lambda t: t.random_(5), "RandomBackward1"),
        (lambda t: t.random_(2, 5), "RandomBackward0"), (lambda t: t.bernoulli_(), "BernoulliBackward2"),
        (lambda t: t.bernoulli_(torch.tensor(0.5)), "BernoulliBackward1"),
        (lambda t: t.exponential_(), "ExponentialBackward0"), (lambda t: t.geometric_(0.5), "GeometricBackward0"),
        (lambda t: t.log_normal_(), "LogNormalBackward0"), (lambda t: t.cauchy_(), "CauchyBackward0"),
    ])
    def test_filling_in_place_stops_the_gradient(self, fill: Any, name: str) -> None:
        leaf = torch.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            fill(leaf)
        filled = leaf * 2
        assert fill(filled) is filled
        assert filled._version == 1
        assert type(filled.grad_fn).__name__ == name
        (filled * leaf).backward(torch.ones(3))
        np.testing.assert_array_equal(leaf.grad.numpy(), filled.detach().numpy())

    def test_normal_of_tensors(self) -> None:
        mean = torch.zeros(2, 1, requires_grad=True)
        drawn = torch.normal(mean, torch.ones(3))
        assert drawn.shape == (2, 3)
        drawn.backward(torch.ones(2, 3))
        assert mean.grad.tolist() == [[0.0], [0.0]]
        assert torch.normal(0.0, 1.0, (4,)).shape == (4,)
        with pytest.raises(TypeError, match="received an invalid combination of arguments"):
            torch.normal(0.0, 1.0)
        with pytest.raises(RuntimeError, match="The size of tensor a"):
            torch.normal(torch.ones(4), torch.ones(2))

    def test_uniform_takes_from_by_name(self) -> None:
        drawn = torch.empty(100).uniform_(**{"from": 2.0}, to=3.0).numpy()
        assert drawn.min() >= 2
        assert drawn.max() < 3
        with pytest.raises(TypeError, match="unexpected keyword argument 'low'"):
            torch.empty(2).uniform_(low=1)

    def test_fill_follows_the_memory(self) -> None:
        torch.manual_seed(1)
        rows = torch.empty(3, 2).uniform_().numpy()
        torch.manual_seed(1)
        columns = torch.from_numpy(np.empty((3, 2), np.float32).T).uniform_().numpy()
        np.testing.assert_array_equal(columns, rows.T)

    def test_multinomial(self) -> None:
        torch.manual_seed(0)
        chosen = torch.multinomial(torch.tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0]]), 5, replacement=True)
        assert chosen.dtype is torch.int64
        assert set(chosen.tolist()[0]) <= {1, 2}
        assert chosen.tolist()[1] == [0] * 5
        with pytest.raises(RuntimeError, match="cannot sample n_sample > prob_dist.size"):
            torch.multinomial(torch.ones(2), 3)


MAKERS: dict[str, Callable[..., Any]] = {
    "ones": lambda **options: torch.ones(2, **options),
    "zeros": lambda **options: torch.zeros(2, **options),
    "empty": lambda **options: torch.empty(2, **options),
    "full": lambda **options: torch.full((2,), 1.0, **options),
    "tensor": lambda **options: torch.tensor([1.0], **options),
    "asarray": lambda **options: torch.asarray([1.0], **options),
    "empty_strided": lambda **options: torch.empty_strided((2,), (1,), **options),
    "ones_like": lambda **options: torch.ones_like(torch.ones(2), **options),
    "full_like": lambda **options: torch.full_like(torch.ones(2), 3.0, **options),
    "new_ones": lambda **options: torch.ones(2).new_ones(2, **options),
    "new_tensor": lambda **options: torch.ones(2).new_tensor([1.0], **options),
    "fft_fftfreq": lambda **options: torch.fft.fftfreq(3, **options),
    "frombuffer": lambda **options: torch.frombuffer(bytearray(4), dtype=torch.float32, **options),
}


class TestRequiresGrad:
    @pytest.mark.parametrize("name", MAKERS)
    @pytest.mark.parametrize("given", ["yes", 1, 0, 1.0, [True], np.bool_(True), torch.tensor(True)], ids=repr)
    def test_only_a_bool_says_whether_grad_is_required(self, name: str, given: Any) -> None:
        kind = "numpy.bool" if isinstance(given, np.bool_) else type(given).__name__
        said = rf"^{name}\(\): argument 'requires_grad' must be bool, not {kind}"
        with pytest.raises(TypeError, match=said):
            MAKERS[name](requires_grad=given)

    @pytest.mark.parametrize("maker", [torch.rand, torch.randn, torch.randperm, torch.arange, torch.eye])
    def test_functions_of_several_signatures_refuse_it_too(self, maker: Any) -> None:
        with pytest.raises(TypeError):
            maker(2, requires_grad="yes")

    @pytest.mark.parametrize("name", MAKERS)
    def test_none_stands_for_false_in_most_functions(self, name: str) -> None:
        if name in ("tensor", "new_tensor"):
            with pytest.raises(TypeError, match="must be bool, not NoneType"):
                MAKERS[name](requires_grad=None)
        else:
            assert not MAKERS[name](requires_grad=None).requires_grad


@pytest.mark.parametrize("handler", ["retrograd", "retrograd.distributed.tensor", "retrograd.tensors.meta.face"])
def test_a_list_that_holds_itself_is_refused(handler: str) -> None:
    # Each of these modules looks for its own tensors in the arguments.
    import_module(handler)
    endless: list[object] = []
    endless.append(endless)
    for dtype in (None, torch.float32):
        with pytest.raises(ValueError, match="^too many dimensions 'list'$"):
            torch.tensor(endless, dtype=dtype)
