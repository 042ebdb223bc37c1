# %% [markdown]
# # Jacobians, Hessians, forward mode and vmap
#
# **You will learn** to get more than one gradient of one number: all slopes of a vector, second derivatives, and the
# gradients of a whole batch in one call.

# %%
import retrograd as torch

func = torch.func

# %% [markdown]
# ## The matrix behind it all
#
# A function with n inputs and m outputs has m × n slopes: the *Jacobian*. Its row i has the slopes of output i.

# %%
def f(x):
    return torch.stack([x[0] * x[1], x[1].sin(), x[0] + 3 * x[2]])

x = torch.tensor([2., 0., 1.])
print(func.jacrev(f)(x))
#> tensor([[0., 2., 0.],
#>         [0., 1., 0.],
#>         [1., 0., 3.]])

# %% [markdown]
# Autograd never needs the whole matrix. It can do two things with it, and each costs about as much as the function:
#
# - **Reverse mode** multiplies from the left: vᵀJ, weights for the outputs. This is `backward`. One call gives a row.
# - **Forward mode** multiplies from the right: Jv, a direction for the inputs. One call gives a column.

# %%
value, pull = func.vjp(f, x)
print("row 0:   ", pull(torch.tensor([1., 0., 0.]))[0])
value, column = func.jvp(f, (x,), (torch.tensor([1., 0., 0.]),))
print("column 0:", column)
#> row 0:    tensor([0., 2., 0.])
#> column 0: tensor([0., 0., 1.])

# %% [markdown]
# So count: a loss has one output and a million inputs. Reverse mode needs *one* call, forward mode a million. A
# function of one parameter with many outputs is the other way round. `jacrev` computes row by row, and `jacfwd` column
# by column. Both give the same matrix.

# %%
print(torch.equal(func.jacrev(f)(x), func.jacfwd(f)(x)))

def rows_by_hand(f, x):
    x = x.clone().requires_grad_()
    y = f(x)
    return torch.stack([
        torch.autograd.grad(y, x, row, retain_graph=True)[0] for row in torch.eye(3)])

print(torch.equal(func.jacrev(f)(x), rows_by_hand(f, x)))
#> True
#> True

# %% [markdown]
# ## Forward mode, from inside
#
# Forward mode has no graph and no backward pass. Each number carries its slope along, the *tangent*. Such a pair is
# called a dual number: (2, 1) times (3, 0) is (6, 3). You can make such pairs yourself:

# %%
forward_ad = torch.autograd.forward_ad

with forward_ad.dual_level():
    t = forward_ad.make_dual(torch.tensor(2.), torch.tensor(1.))
    y = (t ** 3).sin()
    value, tangent = forward_ad.unpack_dual(y)
    print(value, tangent, 3 * 2 ** 2 * torch.tensor(8.).cos())
#> tensor(0.9894) tensor(-1.7460) tensor(-1.7460)

# %% [markdown]
# ## Transforms nest
#
# A *transform* takes a function and returns a function: `grad`, `jvp`, `jacrev`, `vmap`. So you can transform again. A
# Hessian has all second derivatives: the Jacobian of the gradient.

# %%
def energy(x):
    return (x ** 3).sum() + x[0] * x[1] * x[2]

x = torch.tensor([1., 2., -1.])
print(func.hessian(energy)(x))
print(torch.equal(func.hessian(energy)(x), func.jacfwd(func.grad(energy))(x)))

third = func.grad(func.grad(func.grad(torch.sin)))
print(third(torch.tensor(0.)))                       # −cos(0)
#> tensor([[ 6., -1.,  2.],
#>         [-1., 12.,  1.],
#>         [ 2.,  1., -6.]])
#> True
#> tensor(-1.)

# %% [markdown]
# The Hessian of a million parameters does not fit into any memory. Its product with a vector does. This product is the
# slope of the gradient in one direction: forward over reverse.

# %%
def hessian_times(f, x, v):
    return func.jvp(func.grad(f), (x,), (v,))[1]

v = torch.tensor([0., 1., 2.])
print(hessian_times(energy, x, v), func.hessian(energy)(x) @ v)
#> tensor([  3.,  14., -11.]) tensor([  3.,  14., -11.])

# %% [markdown]
# `torch.autograd.functional` has the same functions under older names, also for several inputs. For each pair of an
# output and an input there is one matrix.

# %%
functional = torch.autograd.functional

def add(x, y):
    return 2 * x.exp() + 3 * y

inputs = (torch.tensor([0., 1.]), torch.tensor([5., 6.]))
for matrix in functional.jacobian(add, inputs):
    print(matrix)
print(functional.vjp(lambda x: x * 4, torch.ones(2), torch.tensor([1., 10.]))[1])
#> tensor([[2.0000, 0.0000],
#>         [0.0000, 5.4366]])
#> tensor([[3., 0.],
#>         [0., 3.]])
#> tensor([ 4., 40.])

# %% [markdown]
# ## vmap: write it for one, run it for all
#
# `vmap(f)` takes a function of one sample and returns a function of a batch. There is no loop in it: `f` runs once, and
# each operation computes all samples.

# %%
def distance(a, b):                   # of two points
    return (a - b).norm()

points = torch.tensor([[0., 0.], [3., 4.], [6., 8.]])
home = torch.tensor([0., 0.])
print(torch.vmap(distance, in_dims=(0, None))(points, home))

table = torch.vmap(torch.vmap(distance, (0, None)), (None, 0))(points, points)
print(table)
#> tensor([ 0.,  5., 10.])
#> tensor([[ 0.,  5., 10.],
#>         [ 5.,  0.,  5.],
#>         [10.,  5.,  0.]])

# %% [markdown]
# `vmap(grad(f))` gives the gradient of each sample. An ordinary backward pass gives only their sum.

# %%
def loss(w, row, target):
    return (row @ w - target) ** 2

w = torch.tensor([1., -1.])
rows = torch.tensor([[1., 0.], [0., 2.], [3., 3.]])
targets = torch.tensor([0., 1., 2.])
by_sample = torch.vmap(func.grad(loss), in_dims=(None, 0, 0))(w, rows, targets)
print(by_sample)
#> tensor([[  2.,   0.],
#>         [ -0., -12.],
#>         [-12., -12.]])

# %% [markdown]
# ## A picture: how Newton's method sees a valley
#
# The gradient says which way is down. The Hessian says how the slope changes, so it knows how far to go. Both paths
# begin at the same place of Rosenbrock's valley.

# %%
def valley(p):
    return (1 - p[0]) ** 2 + 20 * (p[1] - p[0] ** 2) ** 2

def path(step, rounds):
    p = torch.tensor([0., 1.2], dtype=torch.float64)
    found = [p]
    for _ in range(rounds):
        p = step(p)
        found.append(p)
    return torch.stack(found)

slope, bend = func.grad(valley), func.hessian(valley)
downhill = path(lambda p: p - 0.004 * slope(p), 200)
newton = path(lambda p: p - torch.linalg.solve(bend(p), slope(p)), 6)
print(downhill[-1])
print(newton[-1])
#> tensor([0.6481, 0.4115], dtype=torch.float64)
#> tensor([1., 1.], dtype=torch.float64)

# %% alt="In a curved valley, 200 small steps follow the floor and stop halfway; Newton reaches the lowest point"
from retrograd.extras import skip_without

with skip_without("matplotlib"):
    import matplotlib.pyplot as plt
    fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    across, up = torch.linspace(-0.8, 1.6, 61), torch.linspace(-0.7, 1.5, 55)
    heights = torch.vmap(valley)(torch.cartesian_prod(across, up)).reshape(61, 55).T
    ax.contourf(across, up, heights.log1p(), levels=14, cmap="cividis")
    ax.plot(*downhill.T, ".-", color="#FFFFFF", markersize=3,
            label="gradient, 200 steps")
    ax.plot(*newton.T, "s--", color="#E69F00", label="Newton, 6 steps")
    ax.legend(loc="lower left", facecolor="#222222", labelcolor="white")
    fig.savefig("valley.svg")

# %% [markdown]
# ## Exercise
#
# `warp` moves points of the plane. By how much does it stretch areas, place by place? That is the absolute value of the
# determinant of the Jacobian at the place. Compute it for all points in one line.

# %%
def warp(p):
    return torch.stack([p[0] + 0.5 * p[1] ** 2, p[1] * (1 + p[0])])

places = torch.tensor([[1., 0.], [0., 0.5], [-1., 0.], [2., -1.]])

# %% tags=["hide-cell"]
stretch = torch.linalg.det(torch.vmap(func.jacrev(warp))(places)).abs()
print(stretch)
#> tensor([2.0000, 0.7500, 0.0000, 2.0000])

# %% [markdown]
# ## Where to read the source
#
# - `func/` has the transforms; `autograd/functional.py` the older names.
# - `tensors/transforms/` has the levels that they nest in: tangents and batches.
# - [Transforms of functions](../transforms.md) goes further: nesting, random numbers in batches, and worked examples,
#   such as Newton's method without a matrix.
#
# Next: [finding NaNs](nans.py). {download}`This page as a script <derivatives.py>`.
