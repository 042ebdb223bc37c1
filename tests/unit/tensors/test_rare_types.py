"""bfloat16, the floats of 8 bits and the wide unsigned integers. Facts recorded from PyTorch."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs

EIGHT_BITS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
UNSIGNED = ["uint16", "uint32", "uint64"]
WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import retrograd as torch
print(torch.bfloat16, torch.finfo(torch.bfloat16).max, {torch.bfloat16: 1}[torch.bfloat16])
try:
    torch.zeros(2, dtype=torch.bfloat16)
except ModuleNotFoundError as error:
    print(error)
torch.zeros(2, dtype=torch.uint16)
"""


class TestNames:
    def test_without_the_package_the_names_exist(self) -> None:
        done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == [
            "torch.bfloat16 3.3895313892515355e+38 1",
            "Tensors of torch.bfloat16 need the package ml_dtypes. Install it: pip install ml_dtypes"]

    def test_the_package_is_imported_with_the_first_tensor(self) -> None:
        code = "import sys, retrograd; retrograd.finfo(retrograd.bfloat16); print('ml_dtypes' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "False\n"

    @pytest.mark.parametrize("name", ["complex32", "float4_e2m1fn_x2"])
    def test_a_name_without_numbers(self, name: str) -> None:
        with pytest.raises(RuntimeError, match=f"torch.{name} is a name without numbers here"):
            torch.zeros(2, dtype=getattr(torch, name))

    @pytest.mark.parametrize(("name", "short", "size"), [
        ("bfloat16", "bf16", 2), ("float8_e4m3fn", "f8e4m3fn", 1), ("uint64", "u64", 8), ("complex32", "c32", 4)])
    def test_facts(self, name: str, short: str, size: int) -> None:
        found = getattr(torch, name)
        assert (repr(found), found.abbr, found.itemsize) == (f"torch.{name}", short, size)
        assert pickle.loads(pickle.dumps(found)) is found

    def test_limits(self) -> None:
        assert repr(torch.finfo(torch.bfloat16)) == (
            "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, smallest_normal=1.17549e-38, "
            "tiny=1.17549e-38, dtype=bfloat16)")
        assert (torch.finfo(torch.float8_e8m0fnu).min, torch.finfo(torch.float16).resolution) == (2.0**-127, 0.001)
        assert torch.finfo(float) == torch.finfo(torch.float64)
        assert torch.iinfo(int).max == 2**63 - 1
        assert torch.iinfo(torch.uint64).max == 2**64 - 1
        with pytest.raises(TypeError, match="missing 1 required positional arguments"):
            torch.iinfo()


@needs("ml_dtypes")
class TestNumbers:
    def test_text(self) -> None:
        x = torch.tensor([1.5, 2.25, float("nan")], dtype=torch.bfloat16)
        assert repr(x) == "tensor([1.5000, 2.2500,    nan], dtype=torch.bfloat16)"
        assert (x.type(), x.element_size(), x[0].item()) == ("torch.BFloat16Tensor", 2, 1.5)

    @pytest.mark.parametrize(("name", "rounded"), [
        ("bfloat16", [1.296875, 1e6, float("inf"), -500.0]),
        ("float8_e4m3fn", [1.25, 448.0, 448.0, -448.0]),
        ("float8_e5m2", [1.25, float("inf"), float("inf"), -512.0]),
        ("float8_e4m3fnuz", [1.25, float("nan"), float("nan"), float("nan")]),
        ("float8_e8m0fnu", [1.0, 2.0**20, float("nan"), 512.0])])
    def test_rounding(self, name: str, rounded: list[float]) -> None:
        x = torch.tensor([1.3, 1e6, float("inf"), -500.0])
        if name == "bfloat16":
            rounded[1] = 999424.0
        for made in (x.to(getattr(torch, name)), torch.zeros(4, dtype=getattr(torch, name)).copy_(x)):
            np.testing.assert_array_equal(made.float().numpy(), rounded)

    def test_a_double_is_rounded_through_float32(self) -> None:
        assert torch.tensor([1 + 2**-8 + 2**-30], dtype=torch.float64).bfloat16().item() == 1.0

    def test_arithmetic_rounds_once(self) -> None:
        x = torch.tensor([1.0, 3.0], dtype=torch.bfloat16)
        assert torch.softmax(x, 0).tolist() == [0.119140625, 0.87890625]
        assert (x * 0.1).tolist() == [0.10009765625, 0.30078125]
        assert (x * 257).tolist() == [256.0, 772.0]              # a factor is not rounded
        assert (x + 257).tolist() == [256.0, 260.0]              # a summand is
        assert torch.ones(300, dtype=torch.bfloat16).sum().item() == 300.0
        assert x.sum(dtype=torch.float32).dtype is torch.float32

    @pytest.mark.parametrize(("other", "common"), [
        ("float16", "float32"), ("float32", "float32"), ("int64", "bfloat16"), ("uint16", "bfloat16"),
        ("complex64", "complex64")])
    def test_promotion(self, other: str, common: str) -> None:
        assert torch.promote_types(torch.bfloat16, getattr(torch, other)) is getattr(torch, common)

    @pytest.mark.parametrize(("a", "b", "said"), [
        ("uint16", "int64", "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 "
                            "and Long"),
        ("float8_e4m3fn", "float32", "Promotion for Float8 Types is not supported, attempted to promote Float8_e4m3fn "
                                     "and Float")])
    def test_promotion_that_is_refused(self, a: str, b: str, said: str) -> None:
        with pytest.raises(RuntimeError, match=said):
            torch.promote_types(getattr(torch, a), getattr(torch, b))

    def test_the_default_type(self) -> None:
        torch.set_default_dtype(torch.bfloat16)
        try:
            assert repr(torch.tensor([1.5])) == "tensor([1.5000])"
            assert (torch.ones(2, dtype=torch.int64) / 2).dtype is torch.bfloat16
            with pytest.raises(RuntimeError, match="invalid default scalar type for complex"):
                torch.tensor([1j])
        finally:
            torch.set_default_dtype(torch.float32)
        with pytest.raises(TypeError, match="couldn't find storage object Float8_e4m3fnStorage"):
            torch.set_default_dtype(torch.float8_e4m3fn)

    def test_writing_in_place(self) -> None:
        x = torch.zeros(3, dtype=torch.bfloat16)
        x[1] = 3.3
        x[0] = torch.tensor(257.0)
        x += 0.1
        x.add_(x, alpha=0.1)
        x[torch.tensor([False, False, True])] = 7
        assert x.tolist() == [282.0, 3.734375, 7.0]

    def test_random_numbers(self) -> None:
        torch.manual_seed(0)
        assert torch.rand(3, dtype=torch.bfloat16).tolist() == [0.49609375, 0.76953125, 0.08837890625]
        torch.manual_seed(0)
        assert torch.randn(3, dtype=torch.bfloat16).tolist() == [1.5390625, -0.29296875, -2.171875]


@needs("ml_dtypes")
class TestGradients:
    def test_types(self) -> None:
        layer, x = torch.nn.Linear(3, 2).bfloat16(), torch.ones(4, 3, dtype=torch.bfloat16, requires_grad=True)
        torch.nn.functional.cross_entropy(layer(x), torch.tensor([0, 1, 0, 1])).backward()
        assert {g.dtype for g in (x.grad, layer.weight.grad, layer.bias.grad)} == {torch.bfloat16}

    def test_normalization_with_parameters_in_float32(self) -> None:
        norm, x = torch.nn.LayerNorm(4), torch.arange(8.0).reshape(2, 4).bfloat16().requires_grad_()
        out = norm(x)
        out.sum().backward()
        assert (out.dtype, x.grad.dtype, norm.weight.grad.dtype) == (torch.bfloat16, torch.bfloat16, torch.float32)

    def test_a_gradient_is_rounded_before_it_is_summed(self) -> None:
        x, y = torch.full((3, 1), 1.1).bfloat16().requires_grad_(), torch.full((3, 4), 0.1).bfloat16()
        (x * y).sum().backward()
        assert x.grad.flatten().tolist() == [0.400390625] * 3

    def test_a_recorded_pass(self) -> None:
        x = torch.tensor([2.0], dtype=torch.bfloat16, requires_grad=True)
        first, = torch.autograd.grad(x ** 3, x, create_graph=True)
        second, = torch.autograd.grad(first, x)
        assert (first.item(), second.item(), second.dtype) == (12.0, 12.0, torch.bfloat16)

    def test_through_a_float_of_8_bits(self) -> None:
        x = torch.tensor([1.3, 2.0], requires_grad=True)
        x.to(torch.float8_e5m2).float().sum().backward()
        assert x.grad.tolist() == [1.0, 1.0]


class TestMemory:
    def test_numpy_lacks_the_type(self) -> None:
        x = torch.ones(2, dtype=torch.bfloat16)
        for ask in (x.numpy, lambda: np.asarray(x), lambda: x.numpy(force=True)):
            with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
                ask()

    @pytest.mark.parametrize("name", ["bfloat16", *EIGHT_BITS, *UNSIGNED])
    def test_saving_pickling_copying(self, name: str) -> None:
        x, file = torch.arange(5).to(getattr(torch, name)), io.BytesIO()
        torch.save({"x": x, "part": x[1:3], "dtype": x.dtype}, file)
        file.seek(0)
        loaded = torch.load(file)
        assert loaded["dtype"] is x.dtype
        for other in (loaded["x"], pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            assert other.dtype is x.dtype
            assert other.tolist() == x.tolist()
        assert loaded["part"].untyped_storage().data_ptr() == loaded["x"].untyped_storage().data_ptr()

    def test_views_of_the_bytes(self) -> None:
        x = torch.tensor([1.5, 2.0]).bfloat16()
        assert x.view(torch.int16).tolist() == [16320, 16384]
        assert x.view(torch.uint16).view(torch.bfloat16).tolist() == [1.5, 2.0]
        assert x.reshape(2, 1).T.shape == (1, 2)

    def test_arrays_of_the_package_are_refused(self) -> None:
        array = np.ones(2).astype(torch.bfloat16.dtype)
        with pytest.raises(TypeError, match="can't convert np.ndarray of type ml_dtypes.bfloat16"):
            torch.from_numpy(array)


class TestUnsigned:
    @pytest.mark.parametrize("name", UNSIGNED)
    def test_what_works(self, name: str) -> None:
        x = torch.tensor([1, 2], dtype=getattr(torch, name))
        assert repr(x) == f"tensor([1, 2], dtype=torch.{name})"
        assert (x == torch.from_numpy(np.array([1, 2], name))).all()
        assert (x * 2).tolist() == [2, 4]
        assert x.sum().item() == 3
        assert torch.cat([x, x]).tolist() == [1, 2, 1, 2]
        assert x.numpy().dtype == name

    @pytest.mark.parametrize(("call", "kernel"), [
        (lambda x: x + 1, "add_stub"), (lambda x: -x, "neg_cpu"), (lambda x: x < 2, "lt_cpu"),
        (lambda x: x.max(), "max_all"), (lambda x: x[x == 1], "index"), (lambda x: x.clone().add_(1), "add_stub"),
        (lambda x: torch.arange(3, dtype=x.dtype), "arange_cpu"), (lambda x: torch.eye(2, dtype=x.dtype), "eye")])
    @pytest.mark.parametrize("name", UNSIGNED)
    def test_what_pytorch_lacks(self, call: Any, kernel: str, name: str) -> None:
        x = torch.tensor([1, 2], dtype=getattr(torch, name))
        if kernel == "index":
            assert call(x).tolist() == [1]
            return
        with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for '{x.dtype.legacy}'"):
            call(x)

    def test_numbers_that_do_not_fit(self) -> None:
        assert torch.tensor([-1], dtype=torch.uint16).item() == 65535
        for value, error in ((-1, OverflowError), (2**70, OverflowError), (1.5, TypeError)):
            with pytest.raises(error):
                torch.tensor([value], dtype=torch.uint64)
        assert torch.tensor([2**63], dtype=torch.uint64).item() == 2**63


@needs("ml_dtypes")
@pytest.mark.parametrize("name", EIGHT_BITS[:4])
def test_floats_of_8_bits_compute_little(name: str) -> None:
    x = torch.ones(2, dtype=getattr(torch, name))
    assert (x * x).tolist() == [1.0, 1.0]
    for call, kernel in ((lambda: x + 1, "add_stub"), (lambda: x * 2.0, "mul_cpu_reduced_float"),
                         (lambda: x.sum(), "sum_cpu"), (lambda: torch.rand(2, dtype=x.dtype), "check_uniform_bounds")):
        with pytest.raises(NotImplementedError, match=f'"{kernel}" not implemented'):
            call()


@needs("ml_dtypes")
@pytest.mark.parametrize("shape", [(), (1,), (2,)])
def test_the_gradient_of_a_broadcast_is_added_in_float32(shape: tuple[int, ...]) -> None:
    """The sum of ones in bfloat16 ends at 256."""
    scale = torch.ones(shape, dtype=torch.bfloat16, requires_grad=True)
    (torch.ones(4000, 2, dtype=torch.bfloat16) * scale).sum().backward()
    assert scale.grad is not None
    assert scale.grad.dtype is torch.bfloat16
    assert {*scale.grad.reshape(-1).tolist()} == {8000.0 if scale.numel() == 1 else 4000.0}


@needs("ml_dtypes")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_gradient_of_what_was_repeated_is_summed_in_single_precision(dtype: torch.dtype) -> None:
    g = (torch.arange(6000.0).reshape(2000, 3) / 2500 - 1).to(dtype)
    for shape, axes in (((), (0, 1)), ((3,), (0,)), ((1, 3), (0,)), ((2000, 1), (1,))):
        x = torch.zeros(shape, dtype=dtype, requires_grad=True)
        (torch.zeros_like(g) + x).backward(g)
        assert x.grad is not None
        assert torch.equal(x.grad, g.float().sum(axes).to(dtype).reshape(shape))


@needs("ml_dtypes")
def test_a_rule_of_a_narrow_type_computes_in_single_precision() -> None:
    slope = torch.full((1,), 0.25, dtype=torch.bfloat16, requires_grad=True)
    g = torch.full((3000,), -1.0, dtype=torch.bfloat16)
    torch.nn.functional.prelu(g, slope).backward(g)
    assert slope.grad is not None
    assert slope.grad.tolist() == [3008.0]                     # a sum in bfloat16 stops at 256


@needs("ml_dtypes")
@pytest.mark.parametrize("name", ["bfloat16", *EIGHT_BITS])
def test_rare_types_without_memory(name: str) -> None:
    x = torch.ones(2, 3).to(getattr(torch, name))
    file = io.BytesIO()
    torch.save(x.t(), file)
    file.seek(0)
    for y in (x.to("meta").t(), torch.empty(2, 3, dtype=x.dtype, device="meta").t(), torch.load(file, "meta")):
        assert (y.is_meta, y.dtype, y.shape, y.stride()) == (True, x.dtype, (3, 2), (1, 3))
