# %% [markdown]
# # Your own Function and your own operator
#
# **You will learn** how to give autograd a derivative of your own, how to make sure that it is right, and which of the
# three ways to choose.
#
# Most programs never need this: a function that is made of operators has a derivative already. Write your own if you
# know a better derivative (faster, with less memory, without overflow), or if you compute with code that autograd
# cannot see, such as a C library.

# %%
import math
import numpy as np
import retrograd as torch

# %% [markdown]
# ## A Function has two halves
#
# `forward` computes. `backward` gets the gradient of the result and returns the gradient of the input. The `ctx`
# connects the two: what `forward` saves there, `backward` finds there. Here is the third Legendre polynomial,
# P₃(x) = ½(5x³ − 3x). Its derivative is 1.5(5x² − 1).

# %%
class Legendre3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * (5 * x ** 3 - 3 * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 1.5 * (5 * x ** 2 - 1)

x = torch.tensor([0., 0.5, 1.], requires_grad=True)
y = Legendre3.apply(x)          # not Legendre3.forward(x): apply records the call
print(y)
y.sum().backward()
print(x.grad)
#> tensor([ 0.0000, -0.4375,  1.0000], grad_fn=<Legendre3Backward>)
#> tensor([-1.5000,  0.3750,  6.0000])

# %% [markdown]
# The chain rule stands in one place: `g *`. `g` says how the loss depends on the result. `g` times the derivative says
# how the loss depends on the input.
#
# You can train with this function as with any other. This program fits a + b P₃(c + dx) to a sine:

# %%
x = torch.linspace(-math.pi, math.pi, 2000)
target = torch.sin(x)
a, b, c, d = (torch.tensor(v, requires_grad=True) for v in (0., -1., 0., 0.3))
for t in range(2000):
    loss = (a + b * Legendre3.apply(c + d * x) - target).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for parameter in (a, b, c, d):
            parameter -= 5e-6 * parameter.grad
            parameter.grad = None
    if t in (0, 1999):
        print(t, f"{loss.item():.1f}")
print(f"{b.item():.2f} * P3({d.item():.2f} x)")
#> 0 461.9
#> 1999 8.9
#> -2.21 * P3(0.26 x)

# %% [markdown]
# ## Is it right? Ask gradcheck
#
# `gradcheck` compares your derivative with differences of the function itself. It needs `float64`, because differences
# lose digits. `gradgradcheck` does the same for the derivative of the derivative.

# %%
points = torch.randn(4, dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(Legendre3.apply, points))
print(torch.autograd.gradgradcheck(Legendre3.apply, points))

class WrongSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]       # the factor 2 is missing

try:
    torch.autograd.gradcheck(WrongSquare.apply, points)
except RuntimeError as error:
    print(str(error).splitlines()[0][:70])
#> True
#> True
#> Jacobian mismatch for output 0 with respect to input 0,

# %% [markdown]
# ## Several inputs, and inputs that are no tensors
#
# `backward` returns one gradient for each argument of `forward`, in the same order. An argument that is no tensor gets
# None. `ctx.needs_input_grad` says which gradients are wanted at all, so that you can save work: here nobody wants the
# gradient of `rows`. If the bias is None, nobody wants its gradient, either.

# %%
class Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, weight, bias, factor):
        ctx.save_for_backward(rows, weight)
        ctx.factor = factor                  # not a tensor: an attribute will do
        out = rows @ weight.t()
        return factor * (out if bias is None else out + bias)

    @staticmethod
    def backward(ctx, g):
        rows, weight = ctx.saved_tensors
        g = ctx.factor * g
        wanted = ctx.needs_input_grad
        by_rows = g @ weight if wanted[0] else None
        by_weight = g.t() @ rows if wanted[1] else None
        by_bias = g.sum(0) if wanted[2] else None
        return by_rows, by_weight, by_bias, None

rows = torch.randn(5, 3, dtype=torch.float64)
weight = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
bias = torch.randn(2, dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(Affine.apply, (rows, weight, bias, 2.5)))
print(torch.autograd.gradcheck(Affine.apply, (rows, weight, None, 2.5)))
#> True
#> True

# %% [markdown]
# Two rules protect you from wrong numbers:
#
# - Save inputs and outputs by `save_for_backward`, not as attributes. Then autograd notices if a program writes to
#   them.
# - Do not write over the `g` that you get: others may use the same tensor. Write to a clone. For a ReLU, that would be
#   `g = g.clone()` and then `g[x < 0] = 0`.
#
# ## Code that autograd cannot see
#
# Inside of `forward` nothing is recorded. So `forward` may compute without tensors, for example with NumPy:

# %%
class Interpolate(torch.autograd.Function):
    """A table, read between its entries. The slope is that of the piece."""

    @staticmethod
    def forward(ctx, x, knots, heights):
        place = np.searchsorted(knots, x.numpy()).clip(1, len(knots) - 1)
        slope = np.diff(heights)[place - 1] / np.diff(knots)[place - 1]
        ctx.slope = torch.from_numpy(slope)
        return torch.from_numpy(np.interp(x.numpy(), knots, heights))

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope, None, None

at = torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64, requires_grad=True)
read = Interpolate.apply(at, np.array([0., 1., 2., 3.]), np.array([0., 1., 4., 9.]))
print(read.detach())
read.sum().backward()
print(at.grad)
#> tensor([0.5000, 2.5000, 6.5000], dtype=torch.float64)
#> tensor([1., 3., 5.], dtype=torch.float64)

# %% [markdown]
# ## An operator in one statement
#
# A `Function` has one derivative, for reverse mode. Forward mode and `vmap` need more methods (`jvp`, `vmap`). With
# `retrograd.op` you write a kernel on NumPy arrays and one rule. Forward mode, second derivatives and `vmap` follow
# from the rule. The names of its parameters say what the rule needs: `x` is the input, and `out` is the result.

# %% tags=["retrograd"]
from retrograd import op

softabs = op.elementwise("softabs", lambda x: np.sqrt(1 + x * x),
                         x=lambda g, x, out: g * x / out)

x = torch.tensor([0., 1., 2.], dtype=torch.float64, requires_grad=True)
print(softabs(x))
print(torch.autograd.gradcheck(softabs, x), torch.autograd.gradgradcheck(softabs, x))
print(torch.func.jvp(softabs, (x.detach(),), (torch.ones(3, dtype=torch.float64),))[1])
print(torch.vmap(torch.func.grad(torch.func.grad(softabs)))(x.detach()))
#> tensor([1.0000, 1.4142, 2.2361], dtype=torch.float64,
#>        grad_fn=<SoftabsBackward0>)
#> True True
#> tensor([0.0000, 0.7071, 0.8944], dtype=torch.float64)
#> tensor([1.0000, 0.3536, 0.0894], dtype=torch.float64)

# %% [markdown]
# ## An operator of torch.library
#
# `torch.library` is PyTorch's way to name an operator, so that other parts of a program find it under `torch.ops`.
# Types of the arguments are read from the annotations.

# %%
@torch.library.custom_op("lesson::cube", mutates_args=())
def cube(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x.detach().numpy() ** 3))

def setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])

def backward(ctx, g):
    return g * 3 * ctx.saved_tensors[0] ** 2

torch.library.register_autograd("lesson::cube", backward, setup_context=setup)

x = torch.tensor([1., 2.], requires_grad=True)
torch.ops.lesson.cube(x).sum().backward()
print(x.grad)
#> tensor([ 3., 12.])

# %% [markdown]
# ## Which one?
#
# | you have | use |
# |---|---|
# | a program that must run with PyTorch too | `autograd.Function` |
# | an operator that others call by its name | `torch.library` |
# | a kernel in NumPy, and you want all modes and batches | `retrograd.op` |
#
# ## Exercise
#
# `log(1 + exp(x))` overflows for large x: `exp(1000)` is infinite. Write a `Function` that computes the same as max(x,
# 0) + log(1 + exp(−|x|)), and whose derivative is the sigmoid of x. Check the value at 1000 and the derivative by
# `gradcheck`.

# %% tags=["hide-cell"]
class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0) + torch.log1p(torch.exp(-x.abs()))

    @staticmethod
    def backward(ctx, g):
        return g * torch.sigmoid(ctx.saved_tensors[0])

x = torch.tensor([-1000., 0., 1000.], dtype=torch.float64, requires_grad=True)
print(Softplus.apply(x).detach())
print(torch.autograd.gradcheck(Softplus.apply, points))
#> tensor([0.0000e+00, 6.9315e-01, 1.0000e+03], dtype=torch.float64)
#> True

# %% [markdown]
# ## Where to read the source
#
# - `autograd/function.py` and `autograd/context.py`: `apply`, and what `ctx` does.
# - `ops/framework.py`: how a rule's parameters become a list of what to save.
# - `autograd/gradcheck.py` compares with differences; `library/` names operators.
# - [Functions that transforms know](../transforms.md#functions-of-your-own) adds `jvp` and `vmap` to a `Function`.
# - [Errors of Functions](../errors/functions.md) lists what can go wrong.
#
# Next: [hooks](hooks.py). {download}`This page as a script <own_functions.py>`.
