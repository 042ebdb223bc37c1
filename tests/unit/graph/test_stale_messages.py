"""What the error about a saved value that was written to says of the value's origin, as PyTorch says it."""

from __future__ import annotations

import re

import pytest

import retrograd as torch

# Programs on `b` that end in the error, and what PyTorch says of the value.
SAID = {
    "c = b * b; b.mul_(3)": "output 0 of Mul",
    "c = b * b; b.mul_(3).relu_()": "output 0 of Relu",
    "c = b * b; b.fill_(2.0)": "output 0 of Fill2",
    "c = b * b; b.copy_(x)": "output 0 of torch::autograd::CopyBackwards",
    "c = b * b; b[0] = 3": "output 0 of torch::autograd::CopySlices",
    "c = b * b; b.detach().mul_(3)": "output 0 of Clone",
    "c = b * b; torch.autograd.graph.increment_version(b)": "output 0 of Clone",
    "v = b[:2]; c = v * v; b.mul_(3)": "output 0 of AsStrided",
    "v = b[:2]; c = v * v; b.detach().mul_(3)": "output 0 of AsStrided",
    "v = b[:2]; c = b * b; v.mul_(3)": "output 0 of torch::autograd::CopySlices",
    "v = b[None]; u = b.view(2, 2).t(); c = b.sum(); u.relu_(); v.mul_(3); c = v.sum()": "output 0 of AsStrided",
    "b = torch.complex(b, b); v = torch.view_as_real(b); c = v * v; b.mul_(3)": "output 0 of ViewAsReal",
    "b = torch.ones(4); c = b * x; b.mul_(x)": "output 0 of Mul",
    "b = torch.ones(4); v = b[:2]; c = v * x[:2]; b.mul_(x)": "output 0 of AsStrided",
    "b = torch.ones(4); c = b * x; b.mul_(3)": "",
    "b = 2.0 ** x; c = b * b; b.detach().mul_(3)": "output 0 of Pow2",
    "c = b.exp(); c.mul_(3)": "output 0 of Exp",
}


@pytest.mark.parametrize("program", SAID)
def test_the_origin_of_a_stale_value(program: str) -> None:
    x = torch.ones(4, requires_grad=True)
    scope = {"torch": torch, "x": x, "b": x.clone()}
    exec(program, scope)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
        scope["c"].sum().backward()
    assert ", ".join(re.findall(r"which is (.*), is at version", str(raised.value))) == SAID[program]
