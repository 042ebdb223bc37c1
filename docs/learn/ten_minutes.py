# %% [markdown]
# # Autograd in ten minutes
#
# **You will learn** how to ask for the derivative of a number that your program computed, and what to watch out for.
#
# You need Python and a little calculus: what a derivative is, and that it is a slope.

# %%
import math
import retrograd as torch

# %% [markdown]
# ## A slope
#
# A *tensor* is an array of numbers. The flag `requires_grad=True` says: I want to know how the result depends on these
# numbers. Autograd then remembers each operation that uses them.

# %%
x = torch.tensor(3., requires_grad=True)
y = x ** 2 + 2 * x
print(y)
#> tensor(15., grad_fn=<AddBackward0>)

# %% [markdown]
# `y` is 15, and it has something that ordinary numbers lack: a `grad_fn`. The `grad_fn` remembers the operation that
# made `y`. Now ask for the slope:

# %%
y.backward()
print(x.grad)
#> tensor(8.)

# %% [markdown]
# The derivative of x² + 2x is 2x + 2. At x = 3, this is 8. If there are several inputs, there is one slope for each
# input. Together these slopes are called the *gradient*.
#
# ## Many numbers at once
#
# Here are 25 angles. The program computes 2 sin(a) + 1 for each of them, and adds up the results.

# %%
a = torch.linspace(0., 2. * math.pi, steps=25, requires_grad=True)
b = torch.sin(a)
c = 2 * b
d = c + 1
out = d.sum()
print(out)
print(d[:4])
#> tensor(25., grad_fn=<SumBackward0>)
#> tensor([1.0000, 1.5176, 2.0000, 2.4142], grad_fn=<SliceBackward0>)

# %% [markdown]
# The slope of 2 sin(a) is 2 cos(a). Autograd found it for all angles in one go. It used no formula for the whole, only
# the rule of each operation and the chain rule.

# %%
out.backward()
print(a.grad[:4])
print((2 * torch.cos(a))[:4])
print(torch.allclose(a.grad, 2 * torch.cos(a), atol=1e-6))
#> tensor([2.0000, 1.9319, 1.7321, 1.4142])
#> tensor([2.0000, 1.9319, 1.7321, 1.4142], grad_fn=<SliceBackward0>)
#> True

# %% [markdown]
# A picture says more. `detach()` gives a tensor without its history, which matplotlib can draw.

# %% alt="A sine wave that swings between -1 and 3, and its slope, which is 0 where the wave turns"
from retrograd.extras import skip_without

with skip_without("matplotlib"):
    import matplotlib.pyplot as plt
    fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(a.detach(), d.detach(), color="#0072B2", label="2 sin(a) + 1")
    ax.plot(a.detach(), a.grad, "--", color="#D55E00", label="its slope, by autograd")
    ax.set_xlabel("a")
    ax.legend()
    fig.savefig("wave.svg")

# %% [markdown]
# ## Where the gradients are
#
# `a` is a *leaf*: your program made it, no operation did. Only leaves keep a gradient. `c` came from an operation, so
# it has a `grad_fn` instead. If you want the gradient of `c`, say so before the backward pass.

# %%
print(a.is_leaf, c.is_leaf)
print(a.grad_fn, c.grad_fn.name())

x = torch.tensor([1., 2.], requires_grad=True)
square = x ** 2
square.retain_grad()
(3 * square).sum().backward()
print(square.grad, x.grad)
#> True False
#> None MulBackward0
#> tensor([3., 3.]) tensor([ 6., 12.])

# %% [markdown]
# A common mistake follows from this. An operation after `requires_grad=True` makes another tensor, and this tensor is
# no leaf:

# %%
wrong = torch.randn(3, requires_grad=True) * 2
right = torch.randn(3).mul(2).requires_grad_()
print(wrong.is_leaf, right.is_leaf)
#> False True

# %% [markdown]
# ## Gradients add up
#
# A second backward pass *adds* to `.grad`. This is useful if a value is used in two places, and surprising otherwise.
# Set the gradient back to None before the next pass.

# %%
x = torch.tensor(3., requires_grad=True)
for _ in range(3):
    (x ** 2).backward()
    print(x.grad)

x.grad = None
(x ** 2).backward()
print(x.grad)
#> tensor(6.)
#> tensor(12.)
#> tensor(18.)
#> tensor(6.)

# %% [markdown]
# ## A result with many numbers
#
# `backward()` needs to know what to find the slope *of*. If the result is one number, this is clear. If the result is
# a vector, it is not:

# %%
p = torch.tensor([2., 3.], requires_grad=True)
q = torch.tensor([6., 4.], requires_grad=True)
error = 3 * p ** 3 - q ** 2
try:
    error.backward()
except RuntimeError as problem:
    print(str(problem).partition(". ")[0].partition("\n")[0])
#> grad can be implicitly created only for scalar outputs

# %% [markdown]
# So you must say how much each number counts: pass a vector of weights, of the same shape. If all weights are 1, you
# get the gradient of the sum. If one weight is 1 and all others are 0, you get the gradient of that single number.

# %%
error.backward(gradient=torch.tensor([1., 1.]))
print(p.grad, 9 * p.detach() ** 2)
print(q.grad, -2 * q.detach())
#> tensor([36., 81.]) tensor([36., 81.])
#> tensor([-12.,  -8.]) tensor([-12.,  -8.])

# %% [markdown]
# Why does this work? The weights v turn the vector into one number, v · error, and this number has a gradient. The
# matrix of all slopes is called the *Jacobian* J, and `backward(v)` computes vᵀJ without ever writing J down. The page
# [Jacobians, Hessians, forward mode and vmap](derivatives.py) goes on from here.
#
# ## Branches and loops
#
# Autograd remembers what really ran. So `if` and `while` need nothing special.

# %%
x = torch.tensor([0.5, -1.5, 2.5], requires_grad=True)
y = x * 2
doublings = 1
while y.detach().norm() < 1000:
    y = y * 2
    doublings += 1
y.backward(torch.tensor([1., 0.1, 0.01]))
print(doublings, x.grad)
#> 9 tensor([512.0000,  51.2000,   5.1200])

# %% [markdown]
# ## When you need no gradient
#
# Autograd needs time and memory to remember operations. There are four ways to switch this off:

# %%
x = torch.ones(2, requires_grad=True)
with torch.no_grad():            # for a block: an update, a measurement
    print((2 * x).requires_grad)

@torch.no_grad()                 # for a function
def measured(x):
    return 2 * x

print(measured(x).requires_grad)
print((2 * x.detach()).requires_grad)    # for one use of a tensor
x.requires_grad = False                  # for a leaf, until you change it again
print((2 * x).requires_grad)
x.requires_grad = True
print((2 * x).requires_grad)
#> False
#> False
#> False
#> False
#> True

# %% [markdown]
# Inside of `no_grad`, `enable_grad` switches recording on again. For NumPy you must be explicit: detach a tensor with a
# history before you make an array of it.

# %%
with torch.no_grad():
    print((2 * x).requires_grad)
    with torch.enable_grad():
        print((2 * x).requires_grad)

try:
    x.numpy()
except RuntimeError as problem:
    print(str(problem).partition(". ")[0])
print(x.detach().numpy())
#> False
#> True
#> Can't call numpy() on Tensor that requires grad
#> [1. 1.]

# %% [markdown]
# ## Exercise
#
# The weight w should make w · 4 equal to 10. Start at w = 0. Compute the error (4w − 10)², ask for the slope, and
# move w a little *against* the slope: `w -= 0.01 * w.grad`. Repeat this until w is 2.5. The update must not be
# remembered, and the gradient must not add up.

# %% tags=["hide-cell"]
w = torch.tensor(0., requires_grad=True)
for _ in range(30):
    error = (4 * w - 10) ** 2
    error.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
print(f"{w.item():.3f}")
#> 2.500

# %% [markdown]
# ## Where to read the source
#
# - `tensors/recording/calls.py` records an operation: look for `_binary`.
# - `graph/engine.py` is the backward pass: the class `Pass`.
# - `ops/elementwise/elementary.py` has the derivative of `sin`, in one line.
#
# Next: [what a graph is, and how it is walked](graph_walk.py). {download}`This page as a script <ten_minutes.py>`.
