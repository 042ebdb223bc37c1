"""Writes in place that read the memory that they write, and views of bytes in forward mode."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

BEGIN = """
        mask = torch.tensor([True, False, True])
        def written(call):
            y, z = torch.tensor([1., 2., 3.]), torch.tensor([2, 0, 1])
            attempt(lambda: call(y, z)); print(y, z)
"""
PROGRAMS = {
    "the value is an element": """
        written(lambda y, z: y.masked_fill_(mask, y[1]))
        written(lambda y, z: y.index_fill_(0, z, y[1]))
        x = torch.tensor([1., 2., 3.], requires_grad=True)
        for write in (lambda y: y.masked_fill_(mask, y[1]), lambda y: y.index_fill_(0, torch.tensor([0, 2]), y[1])):
            y = x * 1; write(y); print(torch.autograd.grad((y * x).sum(), x))
    """,
    "the source is the tensor": """
        for call in (lambda y, z: y.scatter_(0, z, y), lambda y, z: y.scatter_add_(0, z, y), lambda y, z: y.put_(z, y),
                     lambda y, z: y.index_add_(0, z, y), lambda y, z: y.index_copy_(0, z, y),
                     lambda y, z: y.put_(z, y, accumulate=True), lambda y, z: y.scatter_add_(0, z, y.clone())):
            written(call)
        for reduce in ("sum", "prod", "mean", "amax", "amin"):
            written(lambda y, z: y.scatter_reduce_(0, z, y, reduce))
        for reduce in ("prod", "mean", "amax", "amin"):
            written(lambda y, z: y.index_reduce_(0, z, y, reduce))
    """,
    "the index is the tensor": """
        for call in (lambda y, z: z.scatter_(0, z, z), lambda y, z: z.scatter_(0, z, 5), lambda y, z: z.put_(z, z + 0),
                     lambda y, z: z.index_add_(0, z, z + 0), lambda y, z: z.index_copy_(0, z, z + 0),
                     lambda y, z: z.index_fill_(0, z, 7)):
            written(call)
    """,
    "tangents and the bytes of a tensor": """
        jvp, x, t = torch.func.jvp, torch.tensor([0.5, -1.5]), torch.ones(2)
        for kind in (torch.float16, torch.int32, torch.float32, torch.uint8):
            print(jvp(lambda v: v.view(kind).view(torch.float32) * v, (x,), (t,)))
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, t)
            print([torch.autograd.forward_ad.unpack_dual(dual.view(kind)).tangent
                   for kind in (torch.float16, torch.int32, torch.float32)])
    """,
    "what is refused warns of nothing": """
        attempt(lambda: torch.nn.functional.dropout(torch.tensor([1, 2]), 0.5))
        attempt(lambda: torch.ones(2).mul_("a")); attempt(lambda: torch.ones(2).mul_([1.]))
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.usefixtures("forward_mode")
def test_a_program_says_the_same(program: str) -> None:
    assert transcript(retrograd, BEGIN + program) == transcript(torch, BEGIN + program)
