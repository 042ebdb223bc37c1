"""Programs whose backward pass comes upon a NaN, or fails otherwise, each a function of a torch-like module.

They are run in anomaly mode; what PyTorch 2.13 says of each stands beside it. Must not know how they are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NAN, INF = float("nan"), float("inf")
Program = Callable[[Any], Any]
PROGRAMS: dict[str, tuple[Program, str]] = {}


def says(message: str) -> Callable[[Program], Program]:
    """Note a program under its name, with the first line of the error that it ends with."""

    def add(program: Program) -> Program:
        PROGRAMS[program.__name__] = program, message
        return program

    return add


def returned_nan(name: str, number: int = 0) -> Callable[[Program], Program]:
    return says(f"Function '{name}' returned nan values in its {number}th output.")


def leaf(torch: Any, *values: complex) -> Any:
    return torch.tensor([*values], requires_grad=True)


@returned_nan("SqrtBackward0")
def zero_times_infinite(torch: Any) -> None:
    (leaf(torch, 0., 1.).sqrt() * 0).sum().backward()


@returned_nan("DivBackward0", 1)
def second_argument(torch: Any) -> None:
    (leaf(torch, 1.).detach() / leaf(torch, 0.) * 0).sum().backward()


@returned_nan("DivBackward0", 0)
def first_of_both_arguments(torch: Any) -> None:
    (leaf(torch, 1.) / leaf(torch, 0.) * 0).sum().backward()


@returned_nan("SqrtBackward0")
def asked_for_by_grad(torch: Any) -> None:
    x = leaf(torch, 0., 1.)
    torch.autograd.grad((x.sqrt() * 0).sum(), x)


@returned_nan("MulBackward0")
def cotangent(torch: Any) -> None:
    (leaf(torch, 1.) * 3).backward(torch.tensor([NAN]))


@returned_nan("AddBackward0")
def cotangent_handed_on(torch: Any) -> None:
    (leaf(torch, 1., 2.) + 1).backward(torch.tensor([NAN, 1.]))


@returned_nan("NegBackward0")
def sum_of_infinities(torch: Any) -> None:
    y = leaf(torch, 0., 0.).neg()
    (y * INF + y * -INF).backward(torch.ones(2))


@returned_nan("MulBackward0")
def sum_of_broadcast_infinities(torch: Any) -> None:
    y = leaf(torch, 0.).neg()
    (y * torch.tensor([INF, -INF])).sum().backward()


@returned_nan("IndexBackward0")
def index(torch: Any) -> None:
    leaf(torch, 1., 2.)[torch.tensor([0, 1])].backward(torch.tensor([NAN, 1.]))


@returned_nan("WhereBackward0", 1)
def numbered_among_the_differentiable(torch: Any) -> None:
    x = leaf(torch, 0., 2.)
    torch.where(x > 0, torch.ones(2), x).backward(torch.tensor([NAN, 1.]))


@returned_nan("CatBackward0", 2)
def one_of_a_sequence(torch: Any) -> None:
    x = leaf(torch, 0.)
    torch.cat([x, torch.ones(1), x]).backward(torch.tensor([1., 1., NAN]))


@returned_nan("MmBackward0")
def bad_operand_of_a_product(torch: Any) -> None:
    x = torch.ones(2, 2, requires_grad=True)
    x.mm(torch.ones(2, 2, requires_grad=True) * NAN).sum().backward()


@returned_nan("AddmmBackward0", 1)
def bad_parameter(torch: Any) -> None:
    layer = torch.nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight[0, 0] = NAN
    layer(torch.ones(2, 2, requires_grad=True)).sum().backward()


@returned_nan("MulBackward0", 1)
def bad_constant(torch: Any) -> None:
    (torch.tensor([NAN]) * leaf(torch, 0.)).sum().backward()


@returned_nan("PowBackward0")
def bad_target(torch: Any) -> None:
    ((leaf(torch, 1., 2.) * 2 - torch.tensor([1., NAN])) ** 2).sum().backward()


@returned_nan("MulBackward0")
def hook_on_a_gradient(torch: Any) -> None:
    y = leaf(torch, 1.) * 2
    y.register_hook(lambda g: g * NAN)
    (y * 3).sum().backward()


@returned_nan("MulBackward0")
def hook_after_a_node(torch: Any) -> None:
    y = leaf(torch, 1.) * 3
    y.grad_fn.register_hook(lambda inputs, outputs: tuple([None if g is None else g * NAN for g in inputs]))
    y.sum().backward()


@returned_nan("torch::autograd::CopySlices")
def slice_written_in_place(torch: Any) -> None:
    y = leaf(torch, 0., 1.) * 1
    y[0:1].sqrt_()
    (y * 0).sum().backward()


@returned_nan("SqrtBackward0")
def complex_numbers(torch: Any) -> None:
    (leaf(torch, 0j, 1.).sqrt() * 0).sum().abs().backward()


@returned_nan("SqrtBackward0")
def part_of_several(torch: Any) -> None:
    a, b = leaf(torch, 0., 1.).unbind()
    (a.sqrt() * 0 + b).backward()


@returned_nan("DivBackward0", 1)
def second_order(torch: Any) -> None:
    x = leaf(torch, 0.)
    g, = torch.autograd.grad(x.sqrt().sum(), x, create_graph=True)
    (g * 0).sum().backward()


@returned_nan("ReciprocalBackward0")
def recorded_pass(torch: Any) -> None:
    x = leaf(torch, 0.)
    torch.autograd.grad((x.reciprocal() * 0).sum(), x, create_graph=True)


@returned_nan("TimesNanBackward")
def function(torch: Any) -> None:
    functions(torch)[0].apply(leaf(torch, 1.), 3).sum().backward()


@returned_nan("SecondBadBackward", 1)
def function_that_gives_to_a_constant(torch: Any) -> None:
    a, b = functions(torch)[1].apply(3, leaf(torch, 1.), torch.ones(1))
    (a + b).sum().backward()


@says("boo")
def function_that_raises(torch: Any) -> None:
    functions(torch)[2].apply(leaf(torch, 1.)).sum().backward()


@says("h")
def hook_that_raises(torch: Any) -> None:
    y = leaf(torch, 1.) * 2
    y.register_hook(_raise)
    y.sum().backward()


@says("h")
def hook_on_a_leaf_that_raises(torch: Any) -> None:
    x = leaf(torch, 1.)
    y = x * 2
    x.register_hook(_raise)
    (y * x).sum().backward()


@says("h")
def hook_on_nothing_but_a_leaf(torch: Any) -> None:
    x = leaf(torch, 1.)
    x.register_hook(_raise)
    x.backward()


def _raise(g: Any) -> None:
    raise ValueError("h")


@says("one of the variables needed for gradient computation has been modified by an inplace operation: "
      "[torch.FloatTensor [1]], which is output 0 of Exp, is at version 1; expected version 0 instead.")
def stale(torch: Any) -> None:
    y = leaf(torch, 1.).exp()
    y += 1
    y.sum().backward()


@says("Trying to backward through the graph a second time (or directly access saved tensors after they have already "
      "been freed).")
def second_pass(torch: Any) -> None:
    y = (leaf(torch, 1.) ** 2).sum()
    y.backward()
    y.backward()


def functions(torch: Any) -> tuple[Any, Any, Any]:
    """Functions whose backward is bad."""

    class TimesNan(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: int) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * NAN, None

    class SecondBad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, k: int, x: Any, y: Any) -> Any:
            return x * 2, y * 2

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return None, g, h * NAN

    class Raises(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise ValueError("boo")

    return TimesNan, SecondBad, Raises


# What ends without an error: infinities, and what only a leaf sees.

def infinite(torch: Any) -> Any:
    x = leaf(torch, 0.)
    x.sqrt().sum().backward()
    return x.grad


def nan_forward_only(torch: Any) -> Any:
    x = leaf(torch, -1., 1.)
    x.log().sum().backward()
    return x.grad


def hook_on_a_leaf(torch: Any) -> Any:
    x = leaf(torch, 1.)
    x.register_hook(lambda g: g * NAN)
    (x * 3).sum().backward()
    return x.grad


def leaf_alone(torch: Any) -> Any:
    x = leaf(torch, 1., 1.)
    x.backward(torch.tensor([NAN, 1.]))
    return x.grad


FINE = [infinite, nan_forward_only, hook_on_a_leaf, leaf_alone]
