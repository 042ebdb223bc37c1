"""Python numbers that a dtype cannot hold, as options of functions: what they become, or the error.

Each expression runs with each dtype of `x` and each number `s`, in both packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import retrograd

_DTYPES = ["float16", "bfloat16", "float32", "uint8", "int8", "int32", "bool", "complex64"]
_NUMBERS = (1e5, -1e9, 70000, 1e39, -1e300, float("inf"), float("nan"), 300, -1, 2**40, 2**70, 3j, 1e39j, True)

_FILLED = """
x.masked_fill(m, s)
x.masked_fill(m, torch.tensor(s))
x.masked_fill(x > 0, s)
x.clone().masked_fill_(m, s)
x.clone().fill_(s)
x[:1].clone().fill_(s)
torch.full((2,), s, dtype=x.dtype)
torch.full((), s, dtype=x.dtype)
torch.full((2,), s)
torch.full_like(x, s)
x.new_full((2,), s)
torch.scalar_tensor(s, dtype=x.dtype)
torch.tensor([s], dtype=x.dtype)
torch.nn.init.constant_(x.clone(), s)
x.index_fill(0, i, s)
x.index_fill(0, i, torch.tensor(s))
x.clone().__setitem__(0, s)
x.clone().__setitem__(m, s)
x.index_put((m,), torch.tensor(s))
F.pad(x, (1, 1), value=s)
F.pad(x, (-1, 0), value=s)
torch.ones(2, 2, dtype=x.dtype).fill_diagonal_(s)
x.scatter(0, i, s)
x.scatter(0, i[:0], s)
x.scatter_(0, i, s, reduce='add')
x.scatter(0, i, s, reduce='multiply')
torch.where(m, x, s)
torch.where(m, s, x)
x.where(m, s)
torch.nn.utils.rnn.pad_sequence([x, x[:1]], padding_value=s)
"""

_SCALED = """
torch.add(x, x, alpha=s)
torch.add(x[:0], x[:0], alpha=s)
torch.add(x, 1, alpha=s)
x.clone().add_(x, alpha=s)
torch.sub(x, x, alpha=s)
torch.sub(x, 1, alpha=s)
torch.rsub(x, s)
torch.rsub(x, x, alpha=s)
torch._foreach_add([x], [x], alpha=s)[0]
torch.addcmul(x, x, x, value=s)
torch.addcdiv(x, x, x, value=s)
torch.lerp(x, x, s)
torch.addmm(x.view(1, 3), x.view(3, 1)[:1], x.view(1, 3), alpha=s)
torch.addmm(x.view(1, 3), x.view(3, 1)[:1], x.view(1, 3), beta=s)
torch.addmm(x.view(1, 3), x[:0].view(1, 0), x[:0].view(0, 1), alpha=s)
torch.addmm(x[:1].view(1, 1), x[:0].view(1, 0), x[:0].view(0, 1), beta=s)
torch.baddbmm(x.view(1, 1, 3), x.view(1, 3, 1)[:, :1], x.view(1, 1, 3), alpha=s)
torch.addbmm(x.view(1, 3), x.view(1, 3, 1)[:, :1], x.view(1, 1, 3), alpha=s)
torch.addmv(x, x.view(3, 1), x[:1], alpha=s)
torch.addmv(x, x.view(3, 1), x[:1], beta=s)
torch.addr(x.view(1, 3), x[:1], x, alpha=s)
torch.index_add(x, 0, i, x[:1], alpha=s)
torch.index_add(x, 0, i[:0], x[:0], alpha=s)
x ** s
x.clone().pow_(s)
x.clone().mul_(s)
"""

_LIMITED = """
x.clamp(-1, s)
x.clamp(max=s)
x.clone().clamp_(max=s)
x.clamp_min(s)
torch.clamp_max_(x.clone(), s)
F.threshold(x, s, 0)
F.threshold(x, 0, s)
F.hardshrink(x, s)
F.softshrink(x, s)
F.hardtanh(x, 0, s)
F.hardtanh_(x.clone(), 0, s)
F.leaky_relu(x, s)
F.leaky_relu(x[:0], s)
F.elu(x, s)
F.celu(x, s)
F.softplus(x, s)
F.rrelu(x, s, s)
F.smooth_l1_loss(x, x, beta=s)
F.hinge_embedding_loss(x, x, margin=s)
torch.logit(x, s)
x.nan_to_num(s)
torch.copysign(x, s)
torch.histc(x, 3, 0, s)
torch.arange(s, s + 2, 1, dtype=x.dtype)
torch.linspace(0, s, 3, dtype=x.dtype)
torch.linspace(0, s, 1, dtype=x.dtype)
torch.logspace(0, s, 3, dtype=x.dtype)
torch.renorm(x.view(3, 1), 2, 0, s)
torch.trapezoid(x, dx=s)
x.clone().uniform_(0, abs(s)).shape
x.clone().normal_(0, abs(s)).shape
x == s
"""

# What differs all the same, as patterns of "expression, dtype number: what PyTorch gives", with the reasons.
_DIFFERENT = {
    r"complex32|ComplexHalf|<c10::Half>": "there is no complex32 here",
    r"F\.(celu|softplus)\(x, s\), float32 (300|-1|True):|logspace.*, complex64 -1:": "the last digit",
    r"F\.rrelu\(x, s, s\), .*float.* True:": "two bools have the mean 0.5 in PyTorch, as tensors",
    r"(x \*\* s|pow_\(s\)), complex64 -1:": "the sign of a zero",
    r"(alpha=s\), complex64 inf|linspace.*, complex64 (inf|nan)): .*nan": "NumPy's complex products",
    r"trapezoid.*, float16 (100000.0|-1000000000.0|70000|1099511627776):": "a number beside float16 has its type",
    r"(clamp.*, (bool|complex64)|trapezoid.*, bool) 1180591620717411303424:": "the dtype is refused before the number",
    r"(addmm\(x\[:1\].*, bfloat16 (3j|1e\+39j)|histc.*, bfloat16 -1e\+300):": "bfloat16 is computed in float32",
}


def _outcomes(package: Any, source: str) -> Iterator[str]:
    """What the expression gives for each dtype and number: the dtype and the numbers, or the error."""
    code = compile(source, source, "eval")
    fixed = {"torch": package, "F": package.nn.functional, "i": package.tensor([0]),
             "m": package.tensor([True, False, True])}
    for dtype in _DTYPES:
        for s in _NUMBERS:
            x = package.tensor([1., -2., 3.]).to(getattr(package, dtype))
            try:
                y = eval(code, fixed | {"x": x, "s": s})
                found = f"{y.dtype} {y.tolist()}" if hasattr(y, "tolist") else f"{y}"
            except Exception as error:
                found = f"{type(error).__name__}: {error}".split("\n")[0]
            yield f"{source}, {dtype} {s}: {found}"


def _lines(text: str) -> list[str]:
    return text.split("\n")[1:-1]


@pytest.mark.filterwarnings("ignore")
def test_numbers_beyond_the_dtypes() -> None:
    sources = _lines(_FILLED) + _lines(_SCALED) + _lines(_LIMITED)
    pairs = [pair for source in sources for pair in zip(_outcomes(torch, source), _outcomes(retrograd, source))]
    wrong = [(found, other) for found, other in pairs if found != other]
    assert not [pair for pair in wrong if not any([re.search(pattern, pair[0]) for pattern in _DIFFERENT])]
    assert not [pattern for pattern in _DIFFERENT if not any([re.search(pattern, found) for found, _ in wrong])]
