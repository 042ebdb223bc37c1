# %% [markdown]
# # Hooks: watch gradients, and change them
#
# **You will learn** to run your own code in the middle of a backward pass: to print, to measure, to mask and to clip.

# %%
import retrograd as torch

nn = torch.nn

# %% [markdown]
# ## On a tensor
#
# A hook is a function that autograd calls with a gradient. If it returns a tensor, this tensor takes the place of the
# gradient. If it returns None, nothing changes.

# %%
x = torch.tensor([1., -2., 3.], requires_grad=True)
y = x ** 2
watcher = y.register_hook(lambda g: print("at y:", g))
x.register_hook(lambda g: g.clamp(-4, 4))
y.sum().backward()
print(x.grad)
#> at y: tensor([1., 1., 1.])
#> tensor([ 2., -4.,  4.])

# %% [markdown]
# The gradient at `y` is 1, 1, 1. At `x` it would be 2, −4, 6; the second hook cut the 6. `register_hook` returns a
# handle, which takes the hook away again:

# %%
watcher.remove()
x.grad = None
(x ** 2).sum().backward()
print(x.grad)
#> tensor([ 2., -4.,  4.])

# %% [markdown]
# The hook of `x` is still there: it belongs to the leaf, and a leaf lives on. The hook of `y` went with the graph of
# `y`.
#
# ## After the gradient has arrived
#
# A hook on a tensor sees the gradient *on its way*. A leaf has another kind, which runs when `.grad` is complete. An
# optimizer can do its step there, and free the gradient before the next one is computed.

# %%
weight = torch.tensor([1., 2.], requires_grad=True)

def update(leaf):
    with torch.no_grad():
        leaf -= 0.1 * leaf.grad
    leaf.grad = None

weight.register_post_accumulate_grad_hook(update)
(weight ** 2).sum().backward()
print(weight.detach(), weight.grad)
#> tensor([0.8000, 1.6000]) None

# %% [markdown]
# ## On a node
#
# A node of the graph has hooks, too. A *prehook* sees the gradients that arrive. A *hook* sees the gradients that the
# node computed, and those that had arrived. Use these hooks if you mean an operation, not a tensor.

# %%
x = torch.tensor([0.25, 4.], requires_grad=True)
y = x.sqrt()
y.grad_fn.register_prehook(lambda arrived: print("in: ", arrived[0]))
y.grad_fn.register_hook(lambda found, arrived: print("out:", found[0]))
y.sum().backward()
#> in:  tensor([1., 1.])
#> out: tensor([1.0000, 0.2500])

# %% [markdown]
# ## On a module
#
# Modules call hooks around their forward pass and their backward pass. With such hooks you can look into a network
# without changing it. Here we ask a network of ten layers how large its gradients are.

# %%
def deep(activation):
    layers = [nn.Sequential(nn.Linear(32, 32), activation()) for _ in range(10)]
    return nn.Sequential(*layers, nn.Linear(32, 1))

def sizes(model):
    found = []
    def measure(module, to_inputs, to_outputs):
        found.append(to_outputs[0].norm().item())
    handles = [layer.register_full_backward_hook(measure) for layer in model]
    torch.manual_seed(0)
    model(torch.randn(64, 32, requires_grad=True)).pow(2).mean().backward()
    for handle in handles:
        handle.remove()
    return found[::-1]

found = {}
for activation in (nn.Sigmoid, nn.Tanh, nn.ReLU):
    torch.manual_seed(0)
    found[activation.__name__] = sizes(deep(activation))
    first, last = found[activation.__name__][0], found[activation.__name__][-1]
    print(f"{activation.__name__:8} layer 0: {first:.1e}   last layer: {last:.1e}")
#> Sigmoid  layer 0: 1.5e-09   last layer: 6.5e-02
#> Tanh     layer 0: 2.9e-04   last layer: 5.2e-02
#> ReLU     layer 0: 7.2e-06   last layer: 4.9e-02

# %% alt="Gradients by layer: with sigmoids they shrink by eight powers of ten, with tanh and ReLU far less"
from retrograd.extras import skip_without

with skip_without("matplotlib"):
    import matplotlib.pyplot as plt
    fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for (name, norms), color, mark in zip(
            found.items(), ("#0072B2", "#D55E00", "#009E73"), "os^"):
        ax.semilogy(norms, marker=mark, color=color, label=name)
    ax.set_xlabel("layer")
    ax.set_ylabel("size of the gradient")
    ax.legend()
    fig.savefig("sizes.svg")

# %% [markdown]
# The slope of a sigmoid is at most ¼. Ten of them in a row make the gradient vanish: the first layers learn nothing.
#
# ## A layer with cut connections
#
# Some weights should stay at zero for good. It is not enough to set these weights to zero: the next step moves them. A
# hook takes their gradients away.

# %%
def cut(layer, keep):
    with torch.no_grad():
        layer.weight *= keep
    layer.weight.register_hook(lambda g: g * keep)

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 1))
keep = (torch.rand(12, 8) < 0.5).float()
cut(model[0], keep)
x = torch.randn(200, 8)
target = (x[:, :1] * x[:, 1:2]).tanh() + x[:, 2:3]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(200):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), target)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
weight = model[0].weight
print((weight[keep == 0] == 0).all().item(), weight[keep == 1].count_nonzero().item())
#> loss 0.04
#> True 46

# %% [markdown]
# ## In which order?
#
# For one tensor, hooks run in the order in which they were registered; each sees what the one before returned. All of
# them run before `.grad` changes. `retain_grad()` keeps what comes out of all hooks.

# %%
x = torch.tensor(1., requires_grad=True)
y = 3 * x
y.retain_grad()
y.register_hook(lambda g: g + 1)
y.register_hook(lambda g: g * 10)
y.backward()
print(y.grad, x.grad)
#> tensor(20.) tensor(60.)

# %% [markdown]
# ## On saved values
#
# One more pair of hooks runs where the graph keeps a value, and where the backward pass takes the value out again:
# `saved_tensors_hooks`. With these hooks, you can store values smaller, or on a disk. The page
# [Memory and checkpoints](memory.py) shows how.
#
# ## Exercise
#
# Clip the gradient of each parameter of a model to a norm of at most 1, while the pass runs. Use one hook for each
# parameter. Then check the norms.

# %% tags=["hide-cell"]
def clipped(g):
    norm = g.norm()
    return g / norm if norm > 1 else g

torch.manual_seed(0)
model = nn.Linear(5, 3)
for parameter in model.parameters():
    parameter.register_hook(clipped)
(100 * model(torch.randn(8, 5))).pow(2).sum().backward()
print([round(parameter.grad.norm().item(), 4) for parameter in model.parameters()])
#> [1.0, 1.0]

# %% [markdown]
# ## Where to read the source
#
# - `graph/hooks.py` and `tensors/recording/hooks.py`: hooks on nodes, and hooks on tensors.
# - `nn/modules/module/hooks.py`: the hooks of modules.
# - [Errors of hooks](../errors/hooks.md) lists what can go wrong.
#
# Next: [in-place and views](inplace_views.py). {download}`This page as a script <hooks.py>`.
