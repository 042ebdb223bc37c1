# %% [markdown]
# # Finding NaNs
#
# **You will learn** where a `nan` comes from, how to find the line that made it, and what to write instead.

# %%
import retrograd as torch

# %% [markdown]
# ## One nan, and everything is lost
#
# `nan` means "not a number": the answer to 0/0, or to ∞ − ∞. Almost every result that is computed with a `nan` is
# `nan`, too. After one step of training, all parameters are `nan`, and you can no longer see where the first came from.

# %%
inf = torch.tensor(float("inf"))
zero = torch.tensor(0.)
print(zero / zero, inf - inf, zero * inf, torch.tensor(-1.).sqrt())
#> tensor(nan) tensor(nan) tensor(nan) tensor(nan)

# %% [markdown]
# ## The loss is fine, the gradient is not
#
# Most puzzles are of this kind. The loss below is finite. `where` takes 0 wherever x is not positive.

# %%
x = torch.tensor([0., 4.], requires_grad=True)
loss = torch.where(x > 0, x.sqrt(), 0.).sum()
print(loss)
loss.backward()
print(x.grad)
#> tensor(2., grad_fn=<SumBackward0>)
#> tensor([   nan, 0.2500])

# %% [markdown]
# Why? A backward pass multiplies. The element that `where` did not take gets a gradient of 0. The slope of the square
# root at 0 is infinite. And 0 · ∞ is `nan`. So masking the *result* does not help. Mask the *input*:

# %%
x.grad = None
safe = torch.where(x > 0, x, 1.)
torch.where(x > 0, safe.sqrt(), 0.).sum().backward()
print(x.grad)
#> tensor([0.0000, 0.2500])

# %% [markdown]
# In a picture: the slope of the root grows without end as x goes to 0.

# %% alt="The square root rises slowly from 0; its slope grows without end towards 0"
from retrograd.extras import skip_without

at = torch.linspace(0.02, 2, 100, requires_grad=True)
at.sqrt().sum().backward()
with skip_without("matplotlib"):
    import matplotlib.pyplot as plt
    fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
    ax.plot(at.detach(), at.detach().sqrt(), color="#0072B2", label="√x")
    ax.plot(at.detach(), at.grad, "--", color="#D55E00", label="its slope")
    ax.axvline(0, color="#000000", linewidth=0.8)
    ax.set_xlabel("x")
    ax.set_ylim(0, 4)
    ax.legend()
    fig.savefig("root.svg")

# %% [markdown]
# ## Let autograd look for it
#
# Anomaly mode checks each gradient during the backward pass. It stops at the first `nan`:

# %%
scale = torch.tensor([1., 2.], requires_grad=True)
data = torch.tensor([[3., 2.], [0., 0.]])      # the second row has no direction

def model():
    rows = data * scale
    length = rows.square().sum(1, keepdim=True).sqrt()
    unit = rows / length
    return torch.where(length > 0, unit, 0.).sum()

def first_line(error):
    return str(error).splitlines()[0]

with torch.autograd.set_detect_anomaly(True):
    loss = model()
    try:
        loss.backward()
    except RuntimeError as error:
        report = error
        print(first_line(error))
#> Function 'DivBackward0' returned nan values in its 0th output.

# %% [markdown]
# This is what PyTorch says, too. The notes below the message are retrograd's: which element is bad, what it was
# computed from, the line, and the *first* bad value of the whole forward pass. That is the place to mend.

# %% tags=["retrograd"]
print("\n".join(report.__notes__))
#>   found      the gradient of Div for x has 2 nan among 4 elements, nan at [1, 0], where
#>              grad = 0.0, y = 0.0.
#>   recorded   DivBackward0, recorded at nans.py:77    unit = rows / length
#>   because    the first bad value of the forward pass: the result of Div has 2 nan among
#>              4 elements, nan at [1, 0], where x = 0.0, y = 0.0.
#>   read more  retrograd help nan-in-gradient

# %% [markdown]
# The second row is 0/0. `where` did not take it, so the loss was finite. But a gradient of 0, divided by 0, is `nan`.
# The cure is the same as above: choose *before* you divide, and before you take the root.

# %%
def mended():
    rows = data * scale
    square = rows.square().sum(1, keepdim=True)
    length = torch.where(square > 0, square, 1.).sqrt()
    return (rows / length).sum()

mended().backward()
print(scale.grad)
#> tensor([ 0.0960, -0.0480])

# %% [markdown]
# Anomaly mode makes a step up to a third slower. Switch it on while you search.
#
# ## Look with a hook
#
# A hook is cheaper, and you choose what you look for: here, gradients that are huge or not finite.

# %%
def watch(tensor, name):
    def look(g):
        if not g.isfinite().all() or g.abs().max() > 1e3:
            print(f"{name}: largest gradient {g.abs().max().item():.3g}")
    tensor.register_hook(look)

x = torch.tensor([1e-8, 1.], requires_grad=True)
inverse = 1 / x
watch(inverse, "inverse")
watch(x, "x")
inverse.sum().backward()
#> x: largest gradient 1e+16

# %% [markdown]
# ## Usual causes, and what to write
#
# | written | goes wrong at | write |
# |---|---|---|
# | `torch.log(torch.softmax(x, 0))` | log 0 | `torch.log_softmax(x, 0)` |
# | `torch.log(1 + torch.exp(x))` | exp overflows | `torch.nn.functional.softplus(x)` |
# | `(x ** 2).sum().sqrt()` | the slope at 0 | `x.norm()`, or add a small number inside the root |
# | `x / x.sum()` | a sum of 0 | `x / x.sum().clamp(min=1e-8)`, if no element is negative |
# | `torch.log(torch.sigmoid(x))` | log 0 | `torch.nn.functional.logsigmoid(x)` |
# | `where(ok, f(x), 0)` | f is bad where `ok` is False | `f(where(ok, x, harmless))` |

# %%
x = torch.tensor([0., 200.], requires_grad=True)
torch.log(torch.softmax(x, 0))[0].backward()
print(x.grad)
x.grad = None
torch.log_softmax(x, 0)[0].backward()
print(x.grad)
#> tensor([nan, nan])
#> tensor([ 1., -1.])

# %% [markdown]
# ## Exercise
#
# The length of a vector has no slope at 0. What do `x.norm()` and `(x * x).sum().sqrt()` answer there? Find a form that
# is close to the length and has a finite slope everywhere.

# %% tags=["hide-cell"]
def root(x):
    return (x * x).sum().sqrt()

def soft(x):
    return ((x * x).sum() + 1e-12).sqrt()

for length in (torch.norm, root, soft):
    x = torch.zeros(2, requires_grad=True)
    length(x).backward()
    print(x.grad)
#> tensor([0., 0.])
#> tensor([nan, nan])
#> tensor([0., 0.])

# %% [markdown]
# ## Where to read the source
#
# - `graph/anomaly.py` remembers lines, and `graph/anomaly_report.py` writes the report.
# - `graph/bad_values.py` says which element is bad.
# - [Finding bad numbers, and memory](../debugging.md) has the rules, and [Gradients where there is no
#   derivative](../subgradients.md) has each operator's choice at its kinks and poles.
#
# Next: [memory and checkpoints](memory.py). {download}`This page as a script <nans.py>`.
