"""Kinds and devices, switches of the process, old constructors, segments, and `torch.testing`, without PyTorch."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.tensors.face.settings import _Chosen
from retrograd.testing import assert_close, make_tensor


def test_classes_say_where_programs_know_them_from() -> None:
    names = [f"{kind.__module__}.{kind.__qualname__}" for kind in
             (torch.Tensor, torch.Size, torch.dtype, torch.device, torch.Generator, torch.finfo, torch.iinfo)]
    assert names == [f"retrograd.{name}" for name in ["Tensor", "Size", "dtype", "device", "Generator", "finfo",
                                                       "iinfo"]]
    assert repr(type(torch.ones(2))) == "<class 'retrograd.Tensor'>"
    for kept in (torch.float32, torch.bool, torch.Size([1]), torch.device("cpu"), torch.Tensor):
        assert pickle.loads(pickle.dumps(kept)) == kept


@pytest.mark.parametrize(("args", "error", "words"), [
    (("cuda:1", 2), RuntimeError, "must not include an index because index was passed explicitly: cuda:1"),
    (("cuda", -1), RuntimeError, "Device index must not be negative"), ((-1,), RuntimeError, "must not be negative"),
    (("cpu", "1"), TypeError, r"argument 'index' \(position 2\) must be int, not str"),
    (("cuda:01",), RuntimeError, "Invalid device string: 'cuda:01'"), (("",), RuntimeError, "must not be empty"),
    ((None,), TypeError, r"received an invalid combination of arguments - got \(NoneType\)")])
def test_names_of_no_device(args: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        torch.device(*args)


def test_a_device_does_not_change() -> None:
    for name, words in (("type", "attribute 'type' of 'torch.device' objects is not writable"), ("other", "'other'")):
        with pytest.raises(AttributeError, match=words):
            setattr(torch.device("cpu"), name, "cuda")


@pytest.mark.parametrize(("actual", "expected", "words"), [
    (torch.ones(2), torch.zeros(2), "Greatest relative difference: inf at index (0,) (up to 1.3e-06 allowed)"),
    (torch.ones(2), torch.ones(2).double(), "attribute 'dtype' do not match: torch.float32 != torch.float64."),
    (torch.ones(2), torch.ones(3), "attribute 'shape' do not match: torch.Size([2]) != torch.Size([3])."),
    (torch.eye(2).to_sparse(), torch.eye(2), "attribute 'layout' do not match: torch.sparse_coo != torch.strided."),
    (torch.eye(2).to_sparse(), 2 * torch.eye(2).to_sparse(), "Sparse COO values are not close!\n\nMismatched"),
    (torch.eye(2).to_sparse_csc(), torch.eye(2).flip(0).to_sparse_csc(), "Sparse CSC row_indices are not equal!"),
    (torch.eye(2).to_sparse_bsr((1, 1)), torch.ones(2, 2).to_sparse_bsr((1, 1)), "BSR tensors does not match: 2"),
    (torch.ones(2, device="meta"), torch.ones(2), "attribute 'device' do not match: meta != cpu."),
    (torch.arange(3), torch.arange(3) + 1, "Mismatched elements: 3 / 3 (100.0%)"),
    ({"a": [1, 2.0]}, {"a": [1, 2.5]}, "The failure occurred for item ['a'][1]"),
    (1, 2, "Scalars are not equal!"),
    (True, np.False_, "Booleans mismatch: True is not False"),
    ({"b": 1, "a": 1}, {"b": 2, "a": 3}, "The failure occurred for item ['a']"),
    (torch.tensor(1.0).half(), torch.tensor(3.0).half(), "Relative difference: 0.6666666666666666"),
    (torch.tensor([1]), torch.tensor([-2 ** 63]), "Greatest relative difference: -1.0 at index (0,)"),
])
def test_what_is_not_close(actual: Any, expected: Any, words: str) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected)
    assert words in str(caught.value)
    with pytest.raises(AssertionError, match=r"\Amine\Z"):
        assert_close(actual, expected, msg="mine")


def test_what_is_close() -> None:
    third = torch.ones(1, requires_grad=True) / 3
    assert_close(third, torch.tensor([0.33333333]))
    assert_close([third, None, {"n": np.ones(2)}], (third * (1 + 1e-7), None, {"n": np.ones(2)}))
    assert_close(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True)
    assert_close([torch.eye(2).to_sparse(), torch.ones(2, device="meta")],
                 [torch.eye(2).to_sparse() * (1 + 1e-7), torch.zeros(2, device="meta")])
    assert_close(torch.eye(2).to_sparse_csr(), torch.eye(2).to_sparse(), check_layout=False)
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        assert_close(third, [0.5])
    with pytest.raises(ValueError, match="Both 'rtol' and 'atol' must be either specified or omitted"):
        assert_close(third, third, atol=1.0)


def test_what_cannot_be_compared() -> None:
    """The place is named, and the program's message does not replace the text."""
    with pytest.raises(AssertionError, match="The length of the sequences mismatch: 1 != 2"):
        assert_close([1], [1, 2], msg="mine")
    with pytest.raises(TypeError, match=r"float'>\.\n\nThe failure occurred for item \['a'\]"):
        assert_close({"a": torch.ones(1)}, {"a": 1.0})
    with pytest.raises(AssertionError, match="attribute 'layout' do not match: torch.strided != torch.sparse_coo"):
        assert_close(torch.eye(2), torch.eye(2).to_sparse(), allow_subclasses=False)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.complex64, torch.int8, torch.uint8, torch.bool])
def test_made_tensors(dtype: Any) -> None:
    made = make_tensor(3, 4, dtype=dtype, device="cpu", noncontiguous=True, exclude_zero=True)
    assert (made.shape, made.dtype) == ((3, 4), dtype)
    assert not made.is_contiguous()
    assert 0 < np.abs(made.numpy()).min() <= np.abs(made.numpy()).max() <= 9 * 2 ** 0.5


def test_switches_change_no_number() -> None:
    before = torch.ones(2, 2) @ torch.ones(2, 2)
    torch.use_deterministic_algorithms(True)
    torch.set_float32_matmul_precision("medium")
    torch.backends.cudnn.benchmark = torch.backends.cudnn.deterministic = True
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_float32_matmul_precision() == "medium"
    assert torch.equal(torch.ones(2, 2) @ torch.ones(2, 2), before)
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.benchmark = torch.backends.cudnn.deterministic = False
    with torch.backends.cudnn.flags(benchmark=True, allow_tf32=False):
        assert (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark) == (False, True)
    assert (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark) == (True, False)
    assert torch.backends.cudnn.allow_tf32
    for elsewhere in ("cuda", "mps", "xpu"):
        with pytest.raises((AssertionError, RuntimeError)):
            torch.set_default_device(elsewhere)
        with pytest.raises((AssertionError, RuntimeError)), torch.device(elsewhere):
            pass


def test_outer_threads_are_set_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Chosen, "outer_threads", 1)
    monkeypatch.setattr(_Chosen, "outer_threads_set", False)
    torch.set_num_interop_threads(3)
    assert torch.get_num_interop_threads() == 3
    with pytest.raises(RuntimeError, match="Error: cannot set number of interop threads after parallel work"):
        torch.set_num_interop_threads(2)


def test_segments() -> None:
    x = torch.tensor([3.0, 0.0, 0.0, 2.0], requires_grad=True)
    lengths = torch.tensor([3, 0, 1])
    found = {kind: torch.segment_reduce(x, kind, lengths=lengths).tolist() for kind in ("sum", "max", "min", "prod")}
    assert found == {"sum": [3, 0, 2], "max": [3, float("-inf"), 2], "min": [0, float("inf"), 2], "prod": [0, 1, 2]}
    torch.segment_reduce(x, "min", lengths=lengths).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0.5, 0.5, 1]
    product = torch.segment_reduce(x, "prod", lengths=lengths, initial=2)
    second = torch.autograd.functional.hessian(lambda y: torch.segment_reduce(y, "prod", lengths=lengths).sum(), x)
    assert second.tolist() == [[0, 0, 0, 0], [0, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]]
    assert product.tolist() == [0, 2, 4]


def test_a_low_rank_is_found() -> None:
    torch.manual_seed(1)
    low = torch.randn(40, 3, dtype=torch.float64) @ torch.randn(3, 30, dtype=torch.float64)
    for matrix in (low, low.mT, torch.stack([low, 2 * low])):
        u, s, v = torch.svd_lowrank(matrix, q=4)
        assert_close(u @ torch.diag_embed(s) @ v.mH, matrix)
        assert_close(s[..., :3], torch.linalg.svdvals(matrix)[..., :3])
    mean = low.mean(0, keepdim=True)
    assert torch.pca_lowrank(low, q=3, niter=0)[1].shape == (3,)
    with pytest.raises(ValueError, match=r"niter\(=-1\) must be non-negative integer"):
        torch.pca_lowrank(low, q=3, niter=-1)
    _, s, v = torch.pca_lowrank(low, q=3)
    assert_close(s, torch.linalg.svdvals(low - mean)[:3])
    assert_close((low - mean) @ v @ v.mH, low - mean)
