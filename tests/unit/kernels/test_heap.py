"""Memory that was freed serves the next tensor: a training loop on large tensors takes no fresh pages."""

from __future__ import annotations

import platform
import subprocess
import sys

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


def test_steps_take_no_fresh_pages() -> None:
    done = subprocess.run([sys.executable, "-c", _LOOP], capture_output=True, text=True, check=True)
    # A tensor of these is about a thousand pages. Other C libraries have ways of their own.
    assert int(done.stdout) < 1000 or platform.libc_ver()[0] != "glibc"
