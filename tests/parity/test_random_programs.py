"""Random programs, step by step, against PyTorch; and, as plain programs, the differences that they once found."""

import pytest
import torch

import retrograd
from random_machine import OBSERVE, difference, shrunk
from random_programs import generate

FOUND = {
    "roots are looked at before inputs": """
        t0 = torch.tensor([1., 2.])
        torch.autograd.backward(t0.sum(), inputs=[t0])
        t1 = torch.autograd.grad(t0.sum(), t0)
        t0.backward(inputs=[t0])""",
    "a leaf that requires grad no longer gets none": """
        t0 = torch.tensor([[0.7], [-0.6]], requires_grad=True)
        t1 = t0.reshape(-1)
        t0.requires_grad_(False)
        t1.sum().backward()""",
    "reading what a write overlaps": """
        t0 = torch.tensor([1., 2., 3., 4.])
        t0[:2].add_(t0[1:3])
        t0.mul_(t0[0])
        t0[None] += t0
        t0.view(2, 2).add_(t0.view(2, 2).t())
        t0.view(2, 2).copy_(t0.view(2, 2).t())
        t0[torch.tensor([0, 1])] = t0
        t0[torch.tensor([0, 1])] = t0[0]
        t0[t0 > 2] = t0[:1]
        t0[:2] = t0[1:3]
        t0[:2] = t0[0]
        t0.add_(t0)
        t0.fill_(t0[1])
        t1 = torch.ones(3, requires_grad=True) * 2
        t1[None].mul_(t1)
        t1[torch.tensor([0, 1])] = t1[:2]""",
    "one number over memory that coincides": """
        t0 = torch.tensor([1., 2.])
        t1 = t0.expand(3, 2)
        t1.fill_(2.0)
        t1.zero_()
        t1.fill_(torch.tensor(3.))
        t1.add_(1)
        t1[0] = 4.""",
    "output_nr and grad of a stale view are read as they stand": """
        t0 = torch.tensor([[-0.6], [1.6]], requires_grad=True)
        t1 = t0 * t0
        t2, t3 = t1.unbind(0)
        t1.mul_(2)""",
    "a post accumulate hook returns nothing": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t0.register_post_accumulate_grad_hook(lambda t: note(t.grad))
        t0.sum().backward()""",
}


@pytest.mark.parametrize("block", range(8))
def test_random_programs(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        steps = generate(torch, seed)
        if difference(torch, retrograd, steps) is not None:
            steps = shrunk(torch, retrograd, steps)
            told = "\n".join(steps)
            raise AssertionError(f"seed {seed}\n{told}\n{difference(torch, retrograd, steps)}")


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    lines = [line.strip() for line in FOUND[name].strip().splitlines()]
    found = difference(torch, retrograd, [step for line in lines for step in (line, OBSERVE)])
    assert found is None, found
