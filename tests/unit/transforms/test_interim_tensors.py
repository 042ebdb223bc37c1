"""The tensors that only rules see: in passes under a transform, programs get plain tensors with the same numbers."""

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.overrides import TorchFunctionMode
from retrograd.tensors import interim
from retrograd.tensors.interim import Interim

seen: list[Any] = []


class Watched(torch.autograd.Function):
    """The identity. Its backward sees a gradient that rules computed."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        seen.append(g)
        return g

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return Watched.apply(x), in_dims[0]


def hooked(x: Any) -> Any:
    y = x * 1
    y.register_hook(seen.append)
    return y


AFTER: list[Callable[[Any], Any]] = [
    lambda y: (y * 2).sin(),
    lambda y: y.reshape(2, 1).T * 3,
    lambda y: torch.stack(y.unbind()),
    lambda y: y.view(1, 2) @ torch.ones(2, 2) / 2,
    lambda y: y.sort().values - 1,
    lambda y: y.to(torch.float64).to(torch.float32),
    lambda y: y.softmax(0),
]


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("place", [hooked, Watched.apply])
def test_hooks_and_functions_get_plain_tensors(place: Callable[[Any], Any], after: Callable[[Any], Any]) -> None:
    def total(x: Any) -> Any:
        return (after(place(x.exp())) ** 2).sum()

    rows = torch.tensor([[0.5, 1.0], [-1.0, 2.0], [0.25, 0.0]])
    seen.clear()
    batch = torch.vmap(torch.func.grad(total))(rows)
    assert [type(g) for g in seen] == [torch.Tensor]
    assert seen[0]._base is None
    assert type(batch) is torch.Tensor
    assert torch.allclose(batch, torch.stack([torch.func.grad(total)(row) for row in rows]))


def test_rules_of_the_package_compute_with_interim_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    operands, arrays = list[Any](), interim._arrays
    monkeypatch.setattr(interim, "_arrays", lambda op, given: (operands.append(given), arrays(op, given))[1])
    torch.vmap(torch.func.grad(lambda x: (x.sin() * x).sum()))(torch.ones(3, 2))
    assert operands
    assert all(type(x) is Interim for given in operands for x in given)


@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 2.0, 3.0])])
def test_classes_and_absent_operands_need_no_plain_tensors(weight: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ways, general = list[str](), interim._general
    monkeypatch.setattr(interim, "_general", lambda op, args: (ways.append(op.name), general(op, args))[1])
    scores, classes = torch.randn(4, 2, 3), torch.tensor([[0, 2], [1, 1], [2, 0], [0, 0]])

    def loss(scores: Any, classes: Any) -> Any:
        return torch.nn.functional.cross_entropy(scores, classes, weight=weight)

    found = torch.vmap(torch.func.grad(loss))(scores, classes)
    assert ways == []
    alone = [torch.func.grad(loss)(*sample) for sample in zip(scores, classes, strict=True)]
    assert torch.allclose(found, torch.stack(alone))


def test_rules_of_a_program_get_plain_tensors() -> None:
    kinds = list[type]()

    def rule(g: Any, x: Any) -> Any:
        kinds.append(type(g))
        return 2 * g * x

    square = torch.op.elementwise("square_of_a_test", lambda x: x * x, x=rule)
    batch = torch.vmap(torch.func.grad(lambda x: square(x).sum()))(torch.ones(3, 2))
    assert kinds == [torch.Tensor]
    assert batch.tolist() == [[2, 2]] * 3


def test_modes_see_no_interim_tensors() -> None:
    kinds = set[type]()

    class Looking(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kinds.update(types, map(type, args))
            return func(*args, **(kwargs or {}))

    with Looking():
        found = torch.vmap(torch.func.grad(lambda x: (x.exp() * x).sum()))(torch.ones(3, 2))
    assert torch.Tensor in kinds
    assert Interim not in kinds
    assert type(found) is torch.Tensor
