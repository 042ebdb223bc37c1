"""Compiles a function to machine code: the extra `compile`."""

import retrograd as torch


def wave(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * x).sum()


x = torch.linspace(0.0, 1.0, 100, requires_grad=True)
compiled = torch.compile(wave, backend="llvm", fullgraph=True)
for _ in range(3):
    assert torch.allclose(compiled(x), wave(x))
assert torch.compile.explain(wave, x).llvm
