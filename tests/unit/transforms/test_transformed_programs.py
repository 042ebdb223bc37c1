"""Random programs under vmap, jvp, grad and compositions of them; and the programs that once found a fault."""

from __future__ import annotations

import numpy as np
import pytest

import retrograd
from programs.transformed_programs import Program, fault, faults

FOUND = {
    "repeat_interleave of all elements": """
        t2 = torch.repeat_interleave(t0, 3)
    """,
    "a view of what was reshaped in place": """
        t0 = t0.clone()
        t2 = t0.view(-1)
        t0.unsqueeze_(0)
        t3 = t2.sin()
    """,
    "a write into a part of what is expanded": """
        t0 = t0.clone()
        t2 = t0.expand(2, 2, 3).select(0, 0)
        t2.add_(2.5)
    """,
    "a product of what all samples share, beside an ignored summand": """
        t2 = torch.addr(t0.sum(), torch.ones(2).double(), torch.ones(3).double(), beta=0)
        t3 = torch.addmv(t1[0], torch.ones(2, 2).double(), torch.ones(2).double(), beta=0)
    """,
    "a write over a result of what all samples share": """
        t2 = torch.addr(t0.sum(), torch.ones(2).double(), torch.ones(3).double(), beta=0)
        t2 -= t0
    """,
    "a write through a view, of what all samples have the same gradient": """
        t0 = t0.clone()
        t2 = t0[...]
        t2.tanh_()
    """,
    "windows of one number": """
        t2 = t0.sum().unfold(-1, 1, 2)
    """,
    "an extreme of one number": """
        t2 = t1.sum().amax(0)
    """,
    "a norm of one number": """
        t2 = torch.linalg.vector_norm(t1.sum(), -1, dim=0)
    """,
}


@pytest.mark.sampled(6)                                    # 20 random programs each
@pytest.mark.parametrize("block", range(6))
def test_transforms_of_random_programs(block: int) -> None:
    for seed in range(block * 20, block * 20 + 20):
        found = fault(seed)
        assert found is None, found


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    draws = np.random.default_rng(0)
    samples = [[draws.uniform(0.1, 1, (2, 3)), draws.uniform(0.1, 1, (2,))] for _ in range(3)]
    program = Program(retrograd, [line.strip() for line in FOUND[name].strip().splitlines()])
    assert [*faults(program, samples)] == []
