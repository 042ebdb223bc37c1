"""Memory that was freed serves the next tensor: a training loop on large tensors takes no fresh pages."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from retrograd.kernels.native import door

_LOOP = """
import resource
import retrograd as torch

torch.set_num_threads(1)
x = torch.ones(1_000_000, requires_grad=True)

def step():
    x.grad = None
    (x.exp() * x).sum().backward()

for _ in range(3):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have ways of their own")
@pytest.mark.skipif(door.ctypes is None, reason=f"the heap stays as it is: {door.why_off}")
def test_steps_take_no_fresh_pages() -> None:
    done = subprocess.run([sys.executable, "-c", _LOOP], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1000                         # a tensor of these is about a thousand pages
