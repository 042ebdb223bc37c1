"""Errors and warnings of rare calls, by their whole texts."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "too much is cut off": """
        pad = torch.nn.functional.pad
        for mode in ("reflect", "replicate"):
            for sizes in ((3,), (3, 4), (3, 4, 5)):
                for cut in (-2, -3):
                    attempt(lambda: pad(torch.ones(2, *sizes), (cut,) * 2 * len(sizes), mode=mode))
            attempt(lambda: pad(torch.ones(2, 3, 9), (-1, -1, -2, -2), mode=mode))
    """,
    "values without dimensions for init": """
        for name in ("eye_", "dirac_", "orthogonal_", "sparse_", "xavier_normal_", "kaiming_uniform_"):
            attempt(lambda: getattr(torch.nn.init, name)(*([3, 0.1] if name == "sparse_" else [3])))
    """,
    "running statistics of a batch": """
        attempt(lambda: torch.func.vmap(torch.nn.BatchNorm1d(3))(torch.ones(2, 4, 3)))
    """,
    "complex numbers that become real": """
        a, b = torch.tensor([[2.]]), torch.tensor([[3. + 4.j]])
        print(torch.linalg.solve_triangular(a, b, upper=True))
        with torch.no_grad(): print(torch.embedding_renorm_(torch.tensor([[3. + 4.j]]), torch.tensor([0]), 1., 2.))
    """,
    "matrices that are none": """
        for p in (None, 2, 1, "fro", "nuc"):
            attempt(lambda: torch.linalg.cond(torch.ones(3), p))
    """,
    "numbers that a layer refuses": """
        for training in (True, False):
            for eps in (-1., 0., float("nan")):
                for layer, x in (("BatchNorm1d", torch.ones(2, 3)), ("BatchNorm2d", torch.ones(2, 3, 2, 2))):
                    attempt(lambda: getattr(torch.nn, layer)(3, eps=eps).train(training)(x).shape)
        for delta in (2.j, "1", None, torch.tensor(1.), 1, True):
            attempt(lambda: torch.nn.HuberLoss(delta=delta).delta)
    """,
    "a loss of a linear map": """
        made, loss = torch.nn.LinearCrossEntropyOptions, torch.nn.functional.linear_cross_entropy
        for name, values in {"acc_policy": ("compact", "x"), "batch_chunk_size": (None, 4, 0, "a"),
                             "chunking_method": (None, "aspect_ratio", "aspect_ratio:2", "aspect_ratio:", "x"),
                             "acc_dtype": (torch.float64, torch.int64, 3)}.items():
            for value in values: attempt(lambda: made(**{name: value}))
        for options in ({"weight": torch.ones(4)}, {"label_smoothing": 1.5}, {"label_smoothing": -0.5}):
            attempt(lambda: torch.nn.LinearCrossEntropyLoss(3, 5, **options))
        layer = torch.nn.LinearCrossEntropyLoss(3, 5, out_features=[2], options=made())
        print(layer, sorted(name for name in vars(layer) if name[0] != "_"))
        attempt(lambda: loss(torch.ones(3), torch.ones(5, 2, 3), torch.tensor(1), linear_bias=torch.ones(5)))
        x, w, classes = torch.ones(2, 3), torch.ones(5, 3), torch.tensor([0, 4])
        for target in (classes, torch.ones(2, 5), classes.int(), torch.ones(2)):
            for chosen in ({}, {"label_smoothing": 0.1}, {"reduction": "none"}, {"ignore_index": 1},
                           {"linear_bias": torch.ones(5), "label_smoothing": 0.1}):
                attempt(lambda: loss(x, w, target, options=made(), **chosen))
        attempt(lambda: loss(x, torch.ones(5, 2, 3), torch.ones(2, 2).long(), options=made()))
    """,
    "what is no tensor": """
        weight = torch.nn.Parameter(torch.ones(3))
        weight.grad = torch.ones(3)
        for norm in (3., 2, None, "a", [1.]):
            attempt(lambda: torch.nn.utils.clip_grads_with_norm_([weight], 1., norm))
        made, two = torch.distributions, torch.ones(2)
        for one in (made.Wishart(torch.tensor(3.), torch.eye(2), validate_args=False),
                    made.Normal(0., 1., validate_args=False), made.Gamma(two, two, validate_args=False),
                    made.Dirichlet(two, validate_args=False), made.Poisson(two, validate_args=False),
                    made.MultivariateNormal(two, torch.eye(2), validate_args=False)):
            for value in (1, None, "a", [1.]):
                attempt(lambda: one.log_prob(value))
        for init in ("normal_", "uniform_", "xavier_uniform_", "orthogonal_"):
            for value in (3., None, [1.]):
                attempt(lambda: getattr(torch.nn.init, init)(value))
    """,
    "an ellipsis of several lengths": """
        attempt(lambda: torch.einsum("...i,...i", torch.ones(2, 3, 3), torch.ones(2, 3)))
        attempt(lambda: torch.einsum("...i,...i", torch.ones(2, 3), torch.ones(2, 3, 3)))
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_says_the_same(program: str) -> None:
    assert transcript(retrograd, program) == transcript(torch, program)
