"""Every module of `nn` in forward mode: a module that lost a tangent on its way would differ from its gradient."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.module_calls import modules
from comparing.tangents import drawn, numbers, pushed, same, transposed

# Modules whose gradient follows a convention that the tangent does not follow, or that change what they are given.
APART = {"Embedding": "the row at padding_idx has no gradient", "EmbeddingBag": "max_norm writes over the weights",
         "DataParallel": "functional_call refuses this module, as in PyTorch",
         "CrossMapLRN2d": "a custom Function without jvp, as in PyTorch"}


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                    # of layouts and reductions that the calls name
        yield
    torch.set_default_dtype(torch.float32)


class Made:
    """A module as made, and its arguments: the floats among them and the parameters are inputs."""

    def __init__(self, name: str, options: str, arguments: str) -> None:
        draws = np.random.default_rng(0)
        here = {"torch": torch, "f": lambda *n: torch.tensor(draws.uniform(0.1, 0.9, n)),
                "i": lambda *n: torch.tensor(draws.integers(0, 2, n))}
        torch.manual_seed(0)
        self.module = eval(f"torch.nn.{name}({options})", here)
        self.arguments, self.options = eval(f"(lambda *args, **options: (args, options))({arguments})", here)
        self.run(self.arguments)                           # which gives a lazy module its parameters
        self.floats = [x for x in self.flat(self.arguments) if isinstance(x, torch.Tensor) and x.is_floating_point()]
        self.named = dict(self.module.named_parameters())

    @staticmethod
    def flat(arguments: Any) -> list[Any]:
        return [x for part in arguments for x in (part if isinstance(part, tuple) else (part,))]

    def run(self, arguments: Any, parameters: dict[str, Any] | None = None) -> Any:
        torch.manual_seed(1)
        if parameters is None:
            return self.module(*arguments, **self.options)
        return torch.func.functional_call(copy.deepcopy(self.module), parameters, (*arguments,), self.options)

    def call(self, *inputs: Any) -> Any:
        given = iter(inputs)
        arguments = [tuple([next(given) for _ in part]) if isinstance(part, tuple) else
                     next(given) if any(part is x for x in self.floats) else part for part in self.arguments]
        return self.run(arguments, {name: next(given) for name in self.named})

    def arrays(self) -> list[Any]:
        return numbers([*self.floats, *self.named.values()])


@pytest.mark.parametrize(("name", "options", "arguments"), [m for m in modules() if m[0] not in APART])
def test_tangents_of_modules(name: str, options: str, arguments: str) -> None:
    made = Made(name, options, arguments)
    arrays = made.arrays()
    directions = drawn(2, arrays)
    results, tangents = transposed(made.call, arrays, directions)
    found = pushed(made.call, [torch.tensor(a) for a in arrays], directions)
    same(found[0], results, 1e-12)
    same(found[1], tangents)
