"""Gradients of functions with many outputs: vector-Jacobian products, whole Jacobians and Hessians.

On a vector, backward() takes a vector of weights with one weight for each output. It computes the product of this
vector and the Jacobian. All other functions here build on this product.
"""

import torch
from torch.autograd import functional


def surface(u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return 4 * u.sin() - v**2 * u


def energy(x: torch.Tensor) -> torch.Tensor:
    return (x**3).sum() + x[0] * x[1] * x[2]


def double_until_large(x: torch.Tensor) -> torch.Tensor:
    """The number of doublings depends on the data. The graph holds the operations that really ran."""
    y = x * 2
    while y.data.norm() < 1000:
        y = y * 2
    return y


def weights_for_the_outputs() -> None:
    print("a vector output")
    p = torch.tensor([0.5, 2.0], requires_grad=True)
    q = torch.tensor([3.0, -1.0], requires_grad=True)
    error = 5 * p**2 - q**3
    try:
        error.backward()
    except RuntimeError as problem:
        print("  without weights:", str(problem).split(". ")[0])
    error.backward(gradient=torch.tensor([1.0, 1.0]))
    print("  d/dp:", p.grad, " 10p:", 10 * p.detach())
    print("  d/dq:", q.grad, " -3q^2:", -3 * q.detach() ** 2)


def one_output_at_a_time() -> None:
    print("\none row of the Jacobian at a time")
    x = torch.tensor([[1.0, -2.0, 3.0]], requires_grad=True)
    y = 3 * x**2
    for index in range(3):
        pick = torch.zeros(1, 3)
        pick[0, index] = 1
        y.backward(gradient=pick, retain_graph=True)
        print("  row", index, x.grad)
        x.grad.zero_()  # gradients add up from call to call

    inputs = (torch.rand(3), torch.rand(3))
    to_u, to_v = functional.jacobian(surface, inputs)
    u, v = (t.clone().requires_grad_() for t in inputs)
    out = surface(u, v)
    rows = [torch.autograd.grad(out[i], (u, v), retain_graph=True) for i in range(3)]
    by_hand = [torch.stack(part) for part in zip(*rows, strict=True)]
    print("  d surface / du:\n", to_u, sep="")
    print("  d surface / dv:\n", to_v, sep="")
    print("  equal to the rows by hand:", torch.allclose(to_u, by_hand[0]), torch.allclose(to_v, by_hand[1]))


def products_and_curvature() -> None:
    print("\nproducts and curvature")
    x = torch.tensor([1.0, 2.0, -1.0])
    v = torch.tensor([0.0, 1.0, 2.0])
    hessian = functional.hessian(energy, x)
    print("  hessian:\n", hessian, sep="")
    print("  hvp is its product with v:", functional.hvp(energy, x, v)[1], hessian @ v)
    value, product = functional.jvp(torch.exp, x, v)
    print("  jvp of exp:", product, " exp(x) * v:", value * v)


def loops() -> None:
    print("\nas many doublings as it takes")
    x = torch.tensor([0.5, -1.5, 2.5], requires_grad=True)
    y = double_until_large(x)
    v = torch.tensor([1.0, 0.1, 0.01])
    y.backward(v)
    print("  y:", y)
    print("  gradient:", x.grad)
    value, product = functional.vjp(double_until_large, torch.tensor([8.0, 1.0, 4.0]), v=v)
    print("  from a larger start:", value, product)


def main() -> None:
    torch.manual_seed(20)
    weights_for_the_outputs()
    one_output_at_a_time()
    products_and_curvature()
    loops()


if __name__ == "__main__":
    main()
