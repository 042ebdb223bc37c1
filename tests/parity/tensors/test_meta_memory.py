"""Writes to meta tensors that change their geometry, and integers that refuse zeros, here and in PyTorch."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

HEAD = """
def made(*sizes, **options):
    return torch.empty(*sizes, device="meta", **options)

def show(x):
    print(x.device, x.dtype, x.shape, x.stride(), x.storage_offset())
"""
PROGRAMS = {
    "results that must be resized": """
m = made(2, 3)
for call in (lambda o: torch.add(m, 1, out=o), lambda o: torch.mm(m, m.t(), out=o), lambda o: torch.sum(m, 0, out=o),
             lambda o: torch.cat([m, m], out=o), lambda o: torch.exp(m, out=o)):
    o = made(0)
    print(call(o) is o)
    show(o)
values, indices = torch.sort(m, out=(made(0), made(0, dtype=torch.int64)))
show(values), show(indices)
""",
    "set_ and as_strided_": """
q, w = made(2), made(3, 4)
for arguments in ((made(4),), (), (w[1:].t(),), (w.untyped_storage(),), (w.untyped_storage(), 1, (2, 2), (2, 1)),
                  (w, 2, (2, 2), (2, 1)), (w,)):
    show(q.set_(*arguments))
print(q._version, w._version)
q.mul_(2)
print(q._version, w._version)
for x, y in ((made(2), torch.empty(4)), (torch.empty(2), made(4)), (made(2), made(4, dtype=torch.int64)),
             (made(2, requires_grad=True), made(4)), (made(2), torch.empty(2).untyped_storage())):
    attempt(lambda: x.set_(y))
show(made(2, 3).as_strided_((2,), (1,)))
show(made(2, 3).as_strided_((2,), (1,), 1))
""",
    "resize_": """
for x in (made(4, 6), made(4, 6)[1:]):
    for sizes in ((2, 2), (9, 9), (9, 9)):
        show(x.resize_(*sizes))
        print(x._version, x.untyped_storage().nbytes())
    show(x.resize_(2, 3, 4, 5, memory_format=torch.channels_last))
    show(x.resize_as_(torch.empty(2, 3, 4, 5).to(memory_format=torch.channels_last),
                      memory_format=torch.preserve_format))
    attempt(lambda: x.resize_(2, 3, memory_format=torch.channels_last))
    attempt(lambda: x.resize_(2, 3, memory_format=torch.preserve_format))
    attempt(lambda: x.requires_grad_().resize_(3))
""",
    "integers that refuse zeros": """
i = made(3, dtype=torch.int64)
for y in (i // i, i % i, 7 // i, 7 % i, torch.fmod(i, i), i.div(i, rounding_mode="floor"), i**-1, i // 0, i % 0,
          i // made(2, 3, dtype=torch.int32), made(3, dtype=torch.bool)**-1, i.floor_divide_(i), i.remainder_(i)):
    show(y)
attempt(lambda: torch.polygamma(-1, made(3)))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert transcript(retrograd, HEAD + PROGRAMS[name]) == transcript(torch, HEAD + PROGRAMS[name])
