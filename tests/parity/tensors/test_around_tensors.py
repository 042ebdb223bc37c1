"""What programs ask around tensors: kinds and devices, switches of the process, old constructors, torch.testing."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest
import torch

import retrograd
from comparing.same_expression import Outcome, check

_SETUP = """
T, I = torch.testing, torch.nn.init
x = torch.tensor([1., 2., 3.5])
i = torch.tensor([1, 2, 3])
m = torch.arange(4.).view(2, 2)
g = torch.ones(2, requires_grad=True)
z = torch.tensor([1 + 2j, 2 - 1j, 1j])
w = torch.ones(2, dtype=torch.complex64, requires_grad=True) * (1 + 2j)
nan = float("nan")
"""
_EXPRESSIONS = """
x.is_nested, x.is_sparse_csr, x.is_mkldnn, x.is_vulkan, x.is_ipu, x.is_maia, x.is_mtia, x.is_xla, x.is_xpu
isinstance(torch.set_flush_denormal(False), bool)
x.is_shared(), x.is_pinned(), x.is_distributed(), x.name, x.const_data_ptr() == x.data_ptr()
x.share_memory_() is x
type(x._cdata), x._cdata == x._cdata, x._cdata == x.view(3)._cdata, x._cdata == x.detach()._cdata
x[torch.newaxis].shape
x.pin_memory()
x.to_dense() is x
x.to_dense(torch.float64)
x.to_dense(dtype=torch.int64, masked_grad=False)
torch.get_device(x), torch.is_inference(x), torch.is_distributed(x)
torch.get_device(3)
torch.is_inference(3)
torch.typename(x), torch.typename(i), torch.typename(g), torch.typename(3), torch.typename([]), torch.typename(None)
torch.typename(len)
torch.Tensor.__name__, torch.Tensor.__qualname__, torch.Size.__name__, torch.dtype.__qualname__
torch.get_default_device()
torch.set_default_device(None)
torch.device("nowhere")
torch.device("mps"), torch.device("xpu:1"), torch.device("privateuseone")
torch.empty(2, device="xpu")
x.to("mps")
torch.backends.cudnn.is_available(), torch.backends.cudnn.version(), torch.backends.cudnn.benchmark
torch.backends.mps.is_available(), torch.backends.mps.is_built(), torch.backends.cuda.is_built()
torch.backends.cuda.matmul.allow_tf32
torch.accelerator.is_available(), torch.accelerator.device_count(), torch.accelerator.current_accelerator()
torch.accelerator.current_device_index()
torch.accelerator.synchronize()
torch.mps.is_available(), torch.mps.device_count(), torch.mps.manual_seed(1)
torch.xpu.is_available(), torch.xpu.device_count(), torch.xpu.manual_seed(1), torch.xpu.manual_seed_all(1)
torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device(), torch.cpu.synchronize()
torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved(), torch.cuda.max_memory_reserved()
torch.cuda.get_rng_state_all(), torch.cuda.seed(), torch.cuda.seed_all(), torch.cuda.is_bf16_supported()
torch.cuda.get_device_name(0)
torch.cuda.get_device_properties(0)
torch.version.cuda, torch.version.hip, torch.version.debug
torch.set_deterministic_debug_mode("warn")
torch.set_deterministic_debug_mode("loud")
torch.set_deterministic_debug_mode(5)
torch.set_deterministic_debug_mode(0.5)
torch.use_deterministic_algorithms(1)
torch.get_float32_matmul_precision()
torch.set_float32_matmul_precision("low")
torch.get_num_interop_threads() > 0
torch.set_num_interop_threads(0)
torch.set_num_interop_threads(True)
torch.is_autocast_enabled(), torch.is_autocast_enabled("cpu")
torch.set_default_tensor_type("torch.FloatTensor")
torch.set_default_tensor_type(torch.FloatTensor)
torch.set_default_tensor_type(torch.IntTensor)
torch.set_default_tensor_type(3)
torch.set_anomaly_enabled(False, True)
torch.set_anomaly_enabled(1)
torch.iinfo(torch.int64), torch.iinfo(torch.uint8), torch.iinfo(torch.int16)
torch.iinfo(torch.bool)
torch.finfo(3)
torch.finfo(torch.float32) == torch.finfo(torch.float32), torch.finfo(torch.half) == torch.iinfo(torch.int16)
torch.finfo(torch.float32) == 3
torch.set_default_dtype("float32")
torch.set_default_dtype(torch.int64)
x.type(torch.LongTensor), x.type(torch.FloatTensor) is x
torch.set_grad_enabled(True)
setattr(z, "real", x), z
setattr(z, "imag", 3), z, z._version
setattr(z, "real", torch.ones(2))
setattr(z, "real", "text")
setattr(z, "real", 1j)
setattr(x, "real", 5), x, x._version
setattr(x, "imag", x)
setattr(w, "real", 2 * g), w, torch.autograd.grad(w.abs().sum(), g)
torch.layout.__module__ == torch.Tensor.__module__, torch.memory_format.__name__
[d.abbr for d in (torch.float16, torch.float64, torch.complex64, torch.int8, torch.uint8, torch.bool)]
torch.Size([1, 2]) * 2, 2 * torch.Size([1, 2]), (1,) + torch.Size([2])
torch.Size([torch.tensor(3), torch.tensor([4]), True, np.array(5)]), torch.Size(torch.tensor([2, 3]))
(torch.tensor(3),) + torch.Size([1]) + (torch.tensor(2),), type(torch.Size([torch.tensor(3)])[0]), torch.Size()
torch.Size([1.5])
torch.Size([1, torch.tensor(3.)])
torch.Size([1, torch.tensor([])])
torch.Size([np.array([3])])
torch.Size([1, None])
torch.Size([torch.Size([1])])
torch.Size(3)
torch.Size([1]) + [2]
torch.Size([1]) + None
[2] + torch.Size([1])
torch.Size([1]) + (2.5,)
(2.5,) + torch.Size([1])
torch.Size([1]) * 1.5
x.new(), x.new([1]), x.new((2, 3)), x.new(x), i.new([1.5]), x.new(torch.Size([2, 3])).shape
x.new(2, device="cpu").shape
x.new("text")
x.clone().apply_(lambda a: a + 1)
i.int().apply_(lambda a: a / 2)
(x > 2).apply_(lambda a: not a)
torch.tensor([1j]).apply_(lambda a: a + 1)
m.t().apply_(lambda a: a * 2)
(x.apply_(lambda a: a), x._version)
x.apply_(lambda a: "a")
x.apply_(3)
g.apply_(lambda a: a)
g.map_(g, lambda a, b: a)
x.clone().map_(torch.ones(1), lambda a, b: a + b)
x.map_(torch.ones(2), lambda a, b: a)
x.map_(x.double(), lambda a, b: a)
x.map_(3, lambda a, b: a)
x.clone().map2_(x, x, lambda a, b, c: a * b + c)
x.map2_(x, x.double(), lambda a, b, c: a)
torch.range(1, 4, 0.5), torch.range(1, 4, dtype=torch.int32), torch.range(3, 1, -1), torch.range(0, 3.9)
torch.range(end=3, start=1, requires_grad=True)
torch.range(4)
torch.range(3, 1)
torch.range(0, 1, 0)
torch.range(0, 1, dtype=torch.bool)
torch.range(0, 3, out=torch.empty(0))
torch.empty_permuted((2, 3, 4), (0, 2, 1)).stride()
torch.empty_permuted((2, 3), (1, 0), dtype=torch.int32).stride(), torch.empty_permuted((2, 0), (1, 0)).shape
torch.empty_permuted((2, 3), (0, 0))
torch.empty_permuted((2, 3), (0,))
torch.empty_permuted((2, 3), (0, -1))
torch.empty(1, 2, 3, 4, memory_format=torch.channels_last).stride()
torch.empty(2, memory_format=torch.channels_last)
torch.empty(2, memory_format=torch.preserve_format)
torch.empty(2, memory_format=torch.contiguous_format).stride()
torch.from_dlpack(torch.to_dlpack(x))
torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(m.t()))
type(torch.to_dlpack(g)).__name__
torch.from_dlpack(3)
torch.norm_except_dim(m, 2, 5)
torch.norm_except_dim(i)
torch.pca_lowrank(m, q=7)
torch.pca_lowrank(m, niter=-1)
torch.pca_lowrank(x)
torch.svd_lowrank(i.view(3, 1))
torch.svd_lowrank(m, q=-1)
torch.lobpcg(m)
torch.lobpcg(torch.ones(2, 3))
torch.lobpcg(torch.eye(9), k=4)
torch.lobpcg(torch.eye(9), k=2, n=4)
torch.lobpcg(torch.eye(9), X=torch.ones(8, 2))
torch.lobpcg(torch.eye(9).long())
[part.shape for part in torch.lobpcg(torch.eye(9) + torch.diag(torch.arange(9)), k=1, X=torch.randn(9, 2))]
torch.nn.LinearCrossEntropyLoss(3, 5, out_features=(2,), bias=True, weight=torch.ones(5))
[*torch.nn.LinearCrossEntropyLoss(3, 5, bias=True, weight=torch.ones(5)).state_dict()]
torch.nn.LinearCrossEntropyOptions()
torch.nn.functional.linear_cross_entropy(m[None], m, i)
torch.nn.functional.linear_cross_entropy(m, m[0], i)
torch.nn.functional.linear_cross_entropy(m, torch.ones(2, 3), i)
torch.nn.functional.linear_cross_entropy(x, torch.ones(2, 2, 3), i)
torch.nn.functional.linear_cross_entropy(m, m, i[:2] % 2, linear_bias=x)
torch.nn.functional.linear_cross_entropy(m, m, m, ignore_index=1)
torch.nn.functional.linear(m.bool(), m.bool())
I.dirac_(torch.empty(4, 3, 3)), I.dirac_(torch.empty(4, 2, 3, 2), 2), I.dirac_(torch.empty(2, 3, 1, 2, 3))
I.dirac_(torch.empty(4, 2, 3), 3)
I.dirac_(torch.empty(4, 2))
I.sparse_(torch.empty(4, 3), 0.5), I.sparse_(torch.empty(5, 2), 0.1, std=1.0)
I.sparse_(torch.empty(4, 3), 0.1, 1.0, torch.Generator().manual_seed(1))
I.sparse_(torch.empty(4), 0.1)
[f(torch.empty(2, 2, 1)) for f in (I.uniform, I.normal, I.dirac, I.xavier_uniform, I.xavier_normal, I.kaiming_uniform)]
I.kaiming_normal(torch.empty(2, 2)), I.constant(torch.empty(2), 3), I.eye(torch.empty(2, 2))
I.sparse(torch.empty(2, 2), 0.5)
I.uniform.__name__, I.sparse.__name__
I.orthogonal(torch.empty(2))
(setattr(g, "grad", x[:2]), torch.nn.utils.clip_grads_with_norm_([g], 1.0, torch.tensor(4.0)), g.grad)
(setattr(g, "grad", x[:2]), torch.nn.utils.clip_grad_norm(g, 1.0), g.grad)
torch.nn.utils.clip_grads_with_norm_(g, 1.0, torch.tensor(4.0))
torch.segment_reduce(x, "sum")
torch.segment_reduce(x, "none", lengths=i)
torch.segment_reduce(x, "sum", indices=i, lengths=i)
torch.segment_reduce(x, "sum", lengths=torch.tensor([2, 2]))
torch.segment_reduce(x, "sum", lengths=torch.tensor([4, -1]))
torch.segment_reduce(x, "sum", lengths=torch.tensor([2]), unsafe=True)
torch.segment_reduce(x, "sum", lengths=x)
torch.segment_reduce(x, "sum", lengths=[3])
torch.segment_reduce(x, "sum", offsets=torch.tensor([0, 2, 1]))
torch.segment_reduce(x, "sum", lengths=torch.tensor([[3]]))
torch.segment_reduce(m, "sum", lengths=torch.tensor([2]), axis=1)
torch.segment_reduce(x, "sum", lengths=torch.tensor([3]), axis=2)
torch.segment_reduce(x, "sum", lengths=torch.tensor([], dtype=torch.int64))
torch.segment_reduce(x, "sum", lengths=torch.tensor([3]), initial="0")
[torch.segment_reduce(x, kind, lengths=torch.tensor([0, 3])) for kind in ("max", "amin", "mean", "sum", "prod")]
torch.segment_reduce(x, "prod", offsets=torch.tensor([0]))
setattr(torch.device("cpu"), "type", "cuda")
setattr(torch.device("cpu"), "other", 1)
delattr(torch.device("cpu"), "type")
torch.device("cuda:1", 2)
torch.device("cuda", -1)
torch.device("cpu", "1")
torch.device("cpu", True)
torch.device("cuda:01")
torch.device("")
torch.device(None)
torch.device(-1)
torch.device("cpu", 1)
torch.device("cpu", None)
T.assert_close(x, x + 1)
T.assert_close(x, x.double())
T.assert_close(x, x[:2])
T.assert_close(x[0], x[1])
T.assert_close(1, 2)
T.assert_close(1.0, 1)
T.assert_close(1 + 1j, 1 + 2j)
T.assert_close(True, False)
T.assert_close(nan, nan)
T.assert_close(nan, nan, equal_nan=True)
T.assert_close([1, (2, x)], [1, (2, x + 1)])
T.assert_close({"a": x}, {"a": x + 1})
T.assert_close({"a": 1, "c": 1}, {"b": 1, "a": 1})
T.assert_close([x], [x, x])
T.assert_close([[x], 1], [[x, x], 1])
T.assert_close(x, x + 1, rtol=0, atol=0)
T.assert_close(x, x + 1, rtol=0.1, atol=0.1)
T.assert_close(x, x + 1, rtol=1)
T.assert_close(x, x + 1, msg="other words")
T.assert_close(x, x + 1, msg=lambda message: "so: " + message)
T.assert_close(torch.tensor([nan, 1]), torch.tensor([nan, 2]))
T.assert_close(torch.tensor([nan]), torch.tensor([nan]), equal_nan=True)
T.assert_close(i, i + 1)
T.assert_close(i, i.int())
T.assert_close(i, i.double(), check_dtype=False)
T.assert_close(x * 1j, x * 2j)
T.assert_close(x.half(), x.half() * 1.001)
T.assert_close(m, m.t())
T.assert_close(m, m.t().contiguous().t(), check_stride=True)
T.assert_close(m > 1, m < 1)
T.assert_close(torch.tensor([255], dtype=torch.uint8), torch.tensor([1], dtype=torch.uint8))
T.assert_close(m + 1, m * 0)
T.assert_close(np.ones(2), np.zeros(2))
T.assert_close(np.float64(1), np.float64(2))
T.assert_close("a", "a")
T.assert_close(m.to("meta"), m.to("meta") + 1)
T.assert_close(m.to("meta"), m)
T.assert_close(m.to("meta"), m, check_device=False)
T.assert_close(m.to("meta"), m.t().contiguous().t().to("meta"), check_stride=True)
T.assert_close(x.to(torch.float8_e5m2), x.to(torch.float8_e5m2))
T.assert_close(m.to(torch.float8_e5m2), m.t().to(torch.float8_e5m2))
T.assert_close(x[0].to(torch.float8_e4m3fn), x[1].to(torch.float8_e4m3fn))
T.assert_close(x.to(torch.float8_e5m2), x.to(torch.float8_e5m2), rtol=1, atol=1)
T.assert_close(i.to(torch.uint16), i + 1, check_dtype=False)
T.assert_close(m.to_sparse(), m.to_sparse() * 2)
T.assert_close(m.to_sparse(), m.to_sparse(1))
T.assert_close(m.to_sparse(), m, check_stride=True)
T.assert_close(None, None)
T.assert_close(None, 3)
T.assert_close(torch.nn.Parameter(x), x)
T.assert_close(torch.empty(0), torch.empty(0))
T.assert_close(g, g * 1)
T.assert_close({"b": 1, "a": 1}, {"b": 2, "a": 3})
T.assert_close([1], [1, 2], msg="other words")
T.assert_close({"a": [x, "b"]}, {"a": [x, 1]})
T.assert_close([1, 2.], [1, 2.], rtol=1)
T.assert_close([True, None], [True, None], rtol=1)
T.assert_close({"a": True}, {"a": False})
T.assert_close([True, np.True_], [np.True_, False])
T.assert_close(x[0].half(), x[1].half() / 3)
T.assert_close(torch.tensor(True), torch.tensor(False))
T.assert_close(i, torch.tensor([-2 ** 63, 1, 2]))
T.assert_close(m, m.to_sparse(), allow_subclasses=False)
T.assert_close(m.to_sparse(), m.bfloat16().to_sparse())
T.assert_close(torch.nn.Parameter(x), x, allow_subclasses=False)
T.assert_allclose(x, x + 1)
T.assert_allclose(x, [1, 2, 3.5])
T.make_tensor((2, 3), dtype=torch.float32, device="cpu")
T.make_tensor(2, 3, dtype=torch.float64, device="cpu", low=0, high=1)
T.make_tensor([3], dtype=torch.int64, device="cpu"), T.make_tensor(3, dtype=torch.uint8, device="cpu")
T.make_tensor(3, dtype=torch.bool, device="cpu"), T.make_tensor(3, dtype=torch.complex64, device="cpu")
T.make_tensor(3, dtype=torch.float16, device="cpu"), T.make_tensor((), dtype=torch.float32, device="cpu")
T.make_tensor(3, 2, dtype=torch.float32, device="cpu", noncontiguous=True, requires_grad=True)
T.make_tensor(3, dtype=torch.int64, device="cpu", low=0, high=2, exclude_zero=True)
T.make_tensor(3, dtype=torch.int64, device="cpu", low=0.5, high=2.5)
T.make_tensor(3, dtype=torch.float32, device="cpu", low=-float("inf"), high=float("inf"))
T.make_tensor(3, dtype=torch.float32, device="cpu", low=1, high=1)
T.make_tensor(1, 2, 2, 2, dtype=torch.float32, device="cpu", memory_format=torch.channels_last)
T.make_tensor(3, dtype=torch.int64, device="cpu", requires_grad=True)
T.make_tensor(3, dtype=torch.float32, device="cpu", low=2, high=1)
T.make_tensor(3, dtype=torch.float32, device="cpu", low=nan)
"""

# Comparisons of sparse tensors, each in every layout.
_OF_LAYOUTS = """
T.assert_close(m.to_sparse_{}, m.to_sparse_{})
T.assert_close(m.to_sparse_{}, (m * 2).to_sparse_{})
T.assert_close(m.to_sparse_{}, torch.eye(2).to_sparse_{})
T.assert_close(torch.eye(2).to_sparse_{}, torch.eye(2).flip(0).to_sparse_{})
T.assert_close([m.to_sparse_{}], [m], check_layout=False)
T.assert_close(m.to_sparse_{}, (m * 2).to_sparse_coo(), check_layout=False, check_stride=True)
T.assert_close(m.to_sparse_{}, m.double().to_sparse_{}, check_dtype=False)
"""
_EXPRESSIONS += "".join([_OF_LAYOUTS.replace("{}", kind)[1:] for kind in (
    "csr()", "csc()", "bsr((1, 1))", "bsc((1, 1))", "coo()")])


@pytest.fixture(autouse=True)
def as_it_was() -> object:
    """What a program switches is switched back, here and in PyTorch."""
    yield
    for library in (torch, retrograd):
        library.set_deterministic_debug_mode(0)
        library.set_float32_matmul_precision("highest")


@pytest.mark.parametrize("expression", _EXPRESSIONS.split("\n")[1:-1])
def test_it_is_as_in_pytorch(expression: str) -> None:
    check(torch, retrograd, _SETUP, expression)


@pytest.mark.parametrize("expression", [line for line in _EXPRESSIONS.split("\n") if line.startswith("T.assert_close")])
def test_what_assert_close_says_is_said_to_the_letter(expression: str) -> None:
    theirs, ours = (Outcome(library, _SETUP, expression).message for library in (torch, retrograd))
    assert ours.replace("retrograd", "torch") == theirs


def _switched(library: ModuleType) -> list[object]:
    seen: list[object] = []
    for mode in ("error", "warn", 0, 2):
        library.set_deterministic_debug_mode(mode)
        seen.append((library.get_deterministic_debug_mode(), library.are_deterministic_algorithms_enabled(),
                     library.is_deterministic_algorithms_warn_only_enabled()))
    library.use_deterministic_algorithms(True, warn_only=True)
    seen.append(library.get_deterministic_debug_mode())
    library.set_float32_matmul_precision("medium")
    return [*seen, library.get_float32_matmul_precision()]


def test_switches_are_remembered() -> None:
    assert _switched(retrograd) == _switched(torch)


@pytest.mark.parametrize("library", [torch, retrograd])
def test_a_device_is_a_context(library: ModuleType) -> None:
    library.set_default_device("cpu")
    library.set_default_device(None)
    with library.device("cpu") as place, library.backends.cudnn.flags(enabled=False):
        assert library.ones(2).device == place
    assert str(library.get_default_device()) == "cpu"


_MODULES = """
backends.mha backends.nnpack backends.opt_einsum backends.quantized functional storage types fx onnx package
ao.quantization _dynamo
backends.cudnn backends.mps backends.mkl backends.mkldnn backends.openmp backends.cuda backends.cpu accelerator mps xpu
cpu version testing utils.dlpack"""


@pytest.mark.parametrize("name", _MODULES.split())
def test_modules_have_no_names_that_pytorch_lacks(name: str) -> None:
    ours, theirs = (importlib.import_module(f"{library}.{name}") for library in ("retrograd", "torch"))
    assert [word for word in ours.__all__ if not hasattr(theirs, word) and word != "__version__"] == []
