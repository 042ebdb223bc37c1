"""torch.autograd.functional and forward mode keep the classes that a program has derived from Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import forward_ad, functional


class Named(torch.Tensor):
    pass


class Counting(torch.Tensor):
    """A class that handles the calls itself, and sees them."""

    seen: list[str] = []  # noqa: RUF012

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


ONES = torch.ones(3)
CALLS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "jacobian": lambda f, x: functional.jacobian(f, x),
    "batched jacobian": lambda f, x: functional.jacobian(f, x, vectorize=True),
    "recorded jacobian": lambda f, x: functional.jacobian(f, x, create_graph=True),
    "hessian": lambda f, x: functional.hessian(f, x), "vjp": lambda f, x: functional.vjp(f, x)[1],
    "jvp": lambda f, x: functional.jvp(f, x, ONES)[1], "hvp": lambda f, x: functional.hvp(f, x, ONES)[1],
    "vhp": lambda f, x: functional.vhp(f, x, ONES)[1]}


@pytest.mark.parametrize("kind", [Named, Counting])
@pytest.mark.parametrize("name", CALLS)
def test_the_function_is_given_the_class(name: str, kind: type) -> None:
    given: list[type] = []

    def cubes(x: Any) -> Any:
        given.append(type(x))
        return (x * x * x).sum()

    x = torch.arange(3.0)
    found = CALLS[name](cubes, x.as_subclass(kind))
    assert set(given) == {kind}
    assert type(found) is kind
    assert found.tolist() == CALLS[name](cubes, x).tolist()


def test_tangents_around_are_kept() -> None:
    """Inside a transform a class is given up, but no derivative is lost."""
    def slope(x: Any) -> Any:
        return functional.jacobian(lambda y: (y * y * y).sum(), x.as_subclass(Named), create_graph=True).sum()

    x = torch.tensor([1.0, 2.0])
    assert torch.func.jvp(slope, (x,), (torch.ones(2),))[1].item() == 18.0
    assert torch.func.grad(slope)(x).tolist() == [6.0, 12.0]


@pytest.mark.parametrize("kind", [Named, Counting])
def test_duals_have_the_class(kind: type) -> None:
    x = torch.arange(3.0)
    with forward_ad.dual_level():
        found = []
        for given, direction in ((x.as_subclass(kind), torch.ones(3)), (x, torch.ones(3).as_subclass(kind))):
            dual = forward_ad.make_dual(given, direction)
            primal, tangent = forward_ad.unpack_dual(dual * dual)
            found.append(tangent.tolist())
            assert {type(dual), type(primal), type(tangent)} == {kind}
    assert found == [[0.0, 2.0, 4.0]] * 2


def test_a_class_sees_how_duals_are_made_and_taken_apart() -> None:
    Counting.seen.clear()
    with forward_ad.dual_level():
        forward_ad.unpack_dual(forward_ad.make_dual(torch.ones(2).as_subclass(Counting), torch.ones(2)))
    assert [name for name in Counting.seen if "dual" in name] == ["_make_dual", "_unpack_dual"]


@pytest.mark.parametrize("kind", [Named, Counting])
def test_a_function_of_dual_tensors_is_given_the_class(kind: type) -> None:
    given: list[type] = []

    def cubes(x: Any) -> Any:
        given.append(type(x))
        return x * x * x

    x = torch.arange(3.0)
    found = torch.func.jvp(cubes, (x.as_subclass(kind),), (torch.ones(3),))
    columns = torch.func.jacfwd(cubes)(x.as_subclass(kind))
    assert set(given) == {kind}
    assert [type(each) for each in (*found, columns)] == [torch.Tensor] * 3
    assert found[1].tolist() == columns.diagonal().tolist() == [0.0, 3.0, 12.0]
    assert torch.func.jvp(torch.func.grad(lambda y: cubes(y).sum()), (x.as_subclass(kind),),
                          (torch.ones(3),))[1].tolist() == [0.0, 6.0, 12.0]


def test_a_function_that_returns_its_input_keeps_the_class() -> None:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    for requires_grad in (False, True):
        x = ONES.as_subclass(Named).requires_grad_(requires_grad)
        found = Same.apply(x)
        assert (type(found), found.requires_grad, found is x, found._is_view()) == (Named, requires_grad, False, True)
    found.sum().backward()
    assert x.grad.tolist() == [2., 2., 2.]
    layer = torch.nn.Identity()
    layer.register_full_backward_hook(lambda module, before, after: None)
    assert type(layer(x)) is Named
