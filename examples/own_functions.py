"""Your own operations: torch.autograd.Function, and how to make sure that a derivative is right.

Each class computes a value in forward() and a gradient in backward(). gradcheck compares the gradient with finite
differences of the value. gradgradcheck does the same for the derivative of the derivative.
"""

import torch
from torch.autograd import Function, gradcheck, gradgradcheck


class Chebyshev3(Function):
    """T3(x) = 4x^3 - 3x, the polynomial with T3(cos t) = cos 3t."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 4 * x**3 - 3 * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (12 * x**2 - 3)


class Ramp(Function):
    """Clamps to [0, 6]. The gradient of a clamped number is zero."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0, max=6)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        grad = grad.clone()  # the gradient that backward() receives belongs to its caller
        grad[x < 0] = 0
        grad[x > 6] = 0
        return grad


class Affine(Function):
    """rows @ weight.T, plus the bias if there is one."""

    @staticmethod
    def forward(ctx, rows, weight, bias=None):
        ctx.save_for_backward(rows, weight, bias)
        out = rows.mm(weight.t())
        if bias is not None:
            out += bias.unsqueeze(0).expand_as(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        rows, weight, _ = ctx.saved_tensors
        wants_rows, wants_weight, *wants_bias = ctx.needs_input_grad
        return (
            grad.mm(weight) if wants_rows else None,
            grad.t().mm(rows) if wants_weight else None,
            grad.sum(0) if any(wants_bias) else None,
        )


class Scale(Function):
    """Multiplies by a plain number. The number is not a tensor and has no gradient."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


class WrongSquare(Function):
    """A square whose derivative lacks the factor 2."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x


def fit_cosine() -> None:
    """Finds a, b, c, d so that a + b * T3(c + d * x) follows a cosine."""
    x = torch.linspace(-1.5, 1.5, 400)
    target = torch.cos(2 * x + 1.2)
    start = (0.0, 0.8, 0.1, -0.4)
    a, b, c, d = parameters = [torch.full((), value, requires_grad=True) for value in start]
    for step in range(401):
        loss = (a + b * Chebyshev3.apply(c + d * x) - target).pow(2).mean()
        if step % 100 == 0:
            print(f"  step {step:4d}   loss {loss.item():.5f}")
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= 0.01 * p.grad
                p.grad = None
    print("  y = {:.3f} + {:.3f} * T3({:.3f} + {:.3f} x)".format(*(p.item() for p in parameters)))


def check_derivatives() -> None:
    def random(*shape: int) -> torch.Tensor:
        # Finite differences need double precision.
        return torch.randn(*shape, dtype=torch.double, requires_grad=True)

    fixed = torch.randn(5, 4, dtype=torch.double)
    cases = {
        "Chebyshev3": (Chebyshev3.apply, (random(6),)),
        "Ramp": (Ramp.apply, (random(3, 3),)),
        "Affine with bias": (Affine.apply, (random(5, 4), random(2, 4), random(2))),
        "Affine without": (Affine.apply, (fixed, random(2, 4))),
        "Scale": (lambda x: Scale.apply(x, -1.75), (random(4),)),
    }
    for name, (function, inputs) in cases.items():
        first, second = gradcheck(function, inputs, eps=1e-6, atol=1e-5), gradgradcheck(function, inputs)
        print(f"  {name:17s} first derivative {first}, second {second}")
    print(f"  {'WrongSquare':17s} first derivative {gradcheck(WrongSquare.apply, (random(3),), raise_exception=False)}")


def main() -> None:
    torch.manual_seed(7)
    angle = torch.tensor([0.3, 1.1, 2.0], requires_grad=True)
    value = Chebyshev3.apply(angle.cos())
    value.sum().backward()
    print("T3(cos t):", value.detach(), " cos 3t:", torch.cos(3 * angle).detach())
    print("derivative:", angle.grad, " -3 sin 3t:", -3 * torch.sin(3 * angle).detach())

    x = torch.tensor([-2.0, 1.0, 5.0, 9.0], requires_grad=True)
    Ramp.apply(x).sum().backward()
    print("Ramp's gradient at -2, 1, 5, 9:", x.grad)
    print("the node is called", value.grad_fn.name())

    print("\nfit through a polynomial of our own")
    fit_cosine()
    print("\ncheck against finite differences")
    check_derivatives()


if __name__ == "__main__":
    main()
