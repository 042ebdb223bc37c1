"""bfloat16, the floats of 8 bits and the wide unsigned integers against PyTorch."""

from __future__ import annotations

import io
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch as pytorch

import retrograd
from op_table.table import RANDOM, TABLE, Entry

pytestmark = pytest.mark.filterwarnings("ignore")        # both libraries warn, and tests of their own compare that
LIBRARIES = (pytorch, retrograd)
EIGHT_BITS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
UNSIGNED = ["uint16", "uint32", "uint64"]
TYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", *UNSIGNED, "float16", "bfloat16", "float32", "float64",
         "complex64", "complex128", *EIGHT_BITS]
# Entries that PyTorch computes in another way in bfloat16: with a rounding between the steps of a kernel, by an
# algorithm that fails in half precision, or for empty matrices only.
ROUGH = {"logit", "logit eps", "logit_", "special.logit", "special.i0e", "kl_div none", "histc", "sinc", "sinc at 0",
         "binary_cross_entropy_with_logits none", "conv_transpose2d dilated", "conv_tbc", "fold", "adaptive_avg_pool3d",
         "linalg cross", "affine_grid (2, 1, 2, 4, 3) False", "index_add alpha", "addbmm", "segment_reduce mean rows",
         "F.log_softmax"}
ROUGH_FAMILIES = ("interpolate", "attention", "batch_norm", "native_batch_norm", "instance_norm")
OTHERWISE = {"matrix_exp", "matrix_exp large", "matrix_exp small", "linalg.matrix_exp", "norm_except_dim 2 -1",
             # PyTorch's gradient is wrong, or None where ours is zero.
             "as_strided_scatter", "norm 0", "vector_norm 0",
             # The numbers depend on which of two nearly equal places is nearer, or cancel.
             "dist inf", "outer", "gumbel_softmax 0", "embedding_bag scale_grad_by_freq", "igamma 40", "igammac 40",
             "special.softmax"}


def answer(call: Any, torch: ModuleType) -> str:
    """The text of a result, or the type and the message of an error."""
    try:
        return repr(call(torch))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def same(call: Any) -> None:
    ours, theirs = answer(call, retrograd), answer(call, pytorch)
    assert ours == theirs


@pytest.mark.parametrize("name", [*TYPES, "complex32"])
def test_facts(name: str) -> None:
    for attribute in ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr"):
        same(lambda t, attribute=attribute: getattr(getattr(t, name), attribute))
    for call in (lambda t: getattr(t, name).to_complex(), lambda t: getattr(t, name).to_real(),
                 lambda t: t.finfo(getattr(t, name)), lambda t: t.finfo(getattr(t, name)).resolution,
                 lambda t: t.iinfo(getattr(t, name)).max):
        ours, theirs = answer(call, retrograd), answer(call, pytorch)
        assert ours.replace("'iinfo'", "'torch.iinfo'").replace("'finfo'", "'torch.finfo'") == theirs


def test_promotion() -> None:
    for a, b in product(TYPES, TYPES):
        same(lambda t, a=a, b=b: t.promote_types(getattr(t, a), getattr(t, b)))
        same(lambda t, a=a, b=b: t.can_cast(getattr(t, a), getattr(t, b)))
        for first, second in product(((2,), ()), ((2,), ())):
            if "float16" in (a, b) and "complex" in a + b:
                continue                                 # PyTorch has a complex type of half precision
            same(lambda t, a=a, b=b, first=first, second=second: t.result_type(
                t.zeros(first, dtype=getattr(t, a)), t.zeros(second, dtype=getattr(t, b))))
    for a, number in product([name for name in TYPES if name != "float16"], (True, 2, 1.5, 1j)):
        same(lambda t, a=a, number=number: t.result_type(t.zeros(2, dtype=getattr(t, a)), number))


@pytest.mark.parametrize("name", ["bfloat16", *EIGHT_BITS])
def test_rounding(name: str) -> None:
    draws = np.random.default_rng(0)
    values = np.concatenate([draws.normal(size=2000) * 10.0 ** draws.integers(-42, 39, 2000),
                             draws.normal(size=1000) * 99,
                             [0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 57344, 61440, 61439, 240, 247, 248],
                             [1 + 2**-8 + 2**-30, 1 + 2**-8, 2**-127, 2**-128, 1.5, 3, 6, -3]])
    for source in ("float64", "float32", "float16", "bfloat16", *EIGHT_BITS):
        casts = []
        for t in LIBRARIES:
            x = t.tensor(values).to(getattr(t, source))
            copied = t.zeros(len(values), dtype=getattr(t, name))
            copied.copy_(x)
            casts.append((x.to(getattr(t, name)).to(t.float64).tolist(), copied.to(t.float64).tolist()))
        np.testing.assert_array_equal(*casts)


@pytest.mark.parametrize("name", ["bfloat16", *EIGHT_BITS])
def test_bits_as_numbers(name: str) -> None:
    whole = ("uint8", 256) if name != "bfloat16" else ("uint16", 65536)
    for target in ("float32", "int32", "int64", "uint8", "bool"):
        both = [t.arange(whole[1]).to(getattr(t, whole[0])).view(getattr(t, name)) for t in LIBRARIES]
        finite = np.isfinite(both[0].float().numpy()) | (target == "float32")      # C++ leaves the integer of nan open
        np.testing.assert_array_equal(*[np.array(x.to(getattr(t, target)).tolist())[finite]
                                        for t, x in zip(LIBRARIES, both)])


def outcome(torch: ModuleType, entry: Entry, arrays: list[Any]) -> tuple[list[Any], list[str]]:
    """The results and the gradients of an entry in bfloat16, and the names of the nodes."""
    xs = [torch.tensor(a.tolist(), dtype=torch.float64).reshape(a.shape).bfloat16().requires_grad_() for a in arrays]
    out = entry.call(torch, *xs)
    outs = [o for o in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(o, torch.Tensor)]
    results = [*outs]
    for o in outs:
        if o.requires_grad and o.is_floating_point():
            o.backward(torch.full(o.shape, 0.5, dtype=o.dtype), retain_graph=True)
    results += [x.grad for x in xs if x.grad is not None]
    return [(str(r.dtype), np.array(r.detach().to(torch.complex128 if r.is_complex() else torch.float64).tolist()))
            for r in results], [type(o.grad_fn).__name__ for o in outs]


@pytest.mark.parametrize("entry", [e for e in TABLE if e not in RANDOM and "f" in e.kinds and not e.refused
                                   and not e.other_nodes and e.name not in OTHERWISE and "of nothing" not in e.name
                                   and not e.name.startswith("grid_sample ")], ids=str)
def test_operators_in_bfloat16(entry: Entry) -> None:
    """Results agree to a unit in the last place or so. Gradients are sums of several rounded terms."""
    # Without AVX-512, PyTorch rounds the sums of transposed convolutions more often.
    rough = entry.name in ROUGH or entry.name.startswith(ROUGH_FAMILIES) or (
        entry.name.startswith("conv_transpose") and not pytorch.backends.cpu.get_cpu_capability().startswith("AVX512"))
    arrays = next(iter(entry.samples("float64")))
    try:
        (theirs, names) = outcome(pytorch, entry, arrays)
    except (RuntimeError, NotImplementedError, ValueError):
        return                                           # the refusals have a test of their own
    (ours, our_names) = outcome(retrograd, entry, arrays)
    assert our_names == names
    assert [d for d, _ in ours] == [d for d, _ in theirs]
    for i, ((_, mine), (_, expected)) in enumerate(zip(ours, theirs, strict=True)):
        scale = float(np.max(np.abs(expected), initial=0, where=np.isfinite(expected)))
        share = 0.05 if rough or i >= len(names) else 0.002
        np.testing.assert_allclose(mine, expected, rtol=0.009 if not rough else 0.1, atol=share * scale)


# Entries whose first refusing operator is another one than PyTorch's, as its functions are composed differently.
@pytest.mark.parametrize(("name", "share"), [("uint16", 0.91), ("float8_e4m3fn", 0.83)])
def test_most_refusals_are_those_of_pytorch(name: str, share: float) -> None:
    agree = 0
    table = [entry for entry in TABLE if not entry.name.startswith(("lstm", "gru", "rnn_"))]  # one operator each here
    for entry in table:
        arrays = [np.abs(a) for a in next(iter(entry.samples("float64")))]
        answers = []
        for t in LIBRARIES:
            def call(t: ModuleType, entry: Entry = entry, arrays: Any = arrays) -> Any:
                out = entry.call(t, *[t.tensor(a.tolist(), dtype=t.float64).reshape(a.shape).to(getattr(t, name))
                                      for a in arrays])
                return getattr(out, "dtype", None)
            answers.append(answer(call, t).split("(")[0])
        agree += answers[0] == answers[1]
    assert agree / len(table) > share


@pytest.mark.parametrize("shape", [(3,), (16,), (17,), (5, 8), (100,)])
def test_random_numbers_in_bfloat16(shape: tuple[int, ...]) -> None:
    def drawn(t: ModuleType, call: Any) -> list[float]:
        t.manual_seed(0)
        return call(t).float().tolist()

    for call in (lambda t: t.rand(shape, dtype=t.bfloat16), lambda t: t.randn(shape, dtype=t.bfloat16),
                 lambda t: t.zeros(shape, dtype=t.bfloat16).uniform_(-1, 3),
                 lambda t: t.zeros(shape, dtype=t.bfloat16).normal_(1, 2),
                 lambda t: t.zeros(shape, dtype=t.bfloat16).exponential_(),
                 lambda t: t.zeros(shape, dtype=t.bfloat16).random_(3, 900),
                 lambda t: t.nn.functional.dropout(t.ones(shape, dtype=t.bfloat16), 0.3),
                 lambda t: t.bernoulli(t.full(shape, 0.3, dtype=t.bfloat16)),
                 lambda t: t.randint(0, 100, shape, dtype=t.bfloat16),
                 lambda t: t.poisson(t.full(shape, 3.0, dtype=t.bfloat16))):
        assert drawn(retrograd, call) == drawn(pytorch, call)


@pytest.mark.parametrize("name", ["bfloat16", *EIGHT_BITS, *UNSIGNED])
def test_files_of_pytorch(name: str) -> None:
    file = io.BytesIO()
    pytorch.save({"x": pytorch.arange(5).to(getattr(pytorch, name)), "dtype": getattr(pytorch, name)}, file)
    file.seek(0)
    loaded = retrograd.load(file)
    assert loaded["dtype"] is loaded["x"].dtype is getattr(retrograd, name)
    assert loaded["x"].float().tolist() == [0, 1, 2, 3, 4] if name != "float8_e8m0fnu" else loaded["x"].shape == (5,)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("call", ["unsafe_chunk(5, 1)", "unsafe_split(2, 1)", "unsafe_split_with_sizes([1, 4], 1)"])
def test_unsafe_parts_lie_in_the_memory_of_the_whole(name: str, call: str) -> None:
    def seen(torch: ModuleType) -> Any:
        x = torch.zeros(2, 5, 3, dtype=torch.uint8).to(getattr(torch, name))
        parts = eval(f"x.{call}", {"x": x})
        parts[1].copy_(torch.ones(3, dtype=torch.uint8).to(x.dtype))
        return [part.stride() for part in parts], x.double().tolist()

    assert seen(retrograd) == seen(pytorch)
