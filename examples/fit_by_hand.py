"""Fits a cubic to exp on [-1, 1] by handwritten gradient descent, without a module and without an optimizer.

The best cubic is known: it is the series of exp in Legendre polynomials, cut off after the third polynomial.
"""

import math

import torch

STEPS = 1000
RATE = 0.2


def best_cubic() -> list[float]:
    """The coefficients of the cubic with the smallest mean square distance to exp, computed by hand."""
    e = math.e
    series = [math.sinh(1), 3 / e, 2.5 * (e - 7 / e), 3.5 * (37 / e - 5 * e)]
    return [series[0] - series[2] / 2, series[1] - 1.5 * series[3], 1.5 * series[2], 2.5 * series[3]]


def main() -> None:
    torch.manual_seed(3)
    x = torch.linspace(-1, 1, 500)
    target = x.exp()
    a, b, c, d = coefficients = [torch.randn((), requires_grad=True) for _ in range(4)]

    for step in range(STEPS + 1):
        guess = a + b * x + c * x**2 + d * x**3
        loss = (guess - target).pow(2).mean()
        if step % 200 == 0:
            print(f"step {step:4d}   mean square error {loss.item():.3e}")
        loss.backward()
        # The update is not part of the differentiated function, so it must not be recorded.
        with torch.no_grad():
            for coefficient in coefficients:
                coefficient -= RATE * coefficient.grad
                coefficient.grad = None  # otherwise the next backward() adds to this gradient

    print(f"\nthe loss was made by {loss.grad_fn.name()}, out of {guess.grad_fn.name()}")
    print("power   found     best")
    for power, (found, best) in enumerate(zip(coefficients, best_cubic(), strict=True)):
        print(f"x^{power}    {found.item():.4f}    {best:.4f}")


if __name__ == "__main__":
    main()
