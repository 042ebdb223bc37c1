# %% [markdown]
# # What a graph is, and how it is walked
#
# **You will learn** what autograd remembers, how to look at it, and in which order a backward pass visits it.
#
# Before this page, read only [Autograd in ten minutes](ten_minutes.py).

# %%
import retrograd as torch

# %% [markdown]
# ## Nodes and edges
#
# Each operation leaves a *node* behind: the `grad_fn` of its result. A node knows two things. It has a rule that finds
# the gradients of its inputs, and the numbers that the rule needs. And it has *edges* to the nodes of its inputs.

# %%
a = torch.tensor([2.], requires_grad=True)
b = a ** 2
c = b * 3
d = c.mean()
for tensor in (d, c, b, a):
    print(tensor.grad_fn and tensor.grad_fn.name())
#> MeanBackward0
#> MulBackward0
#> PowBackward0
#> None

# %% [markdown]
# `next_functions` lists the edges. Each edge is a pair: a node, and the index of one of the outputs of this node. The 3
# is a constant, so its edge is `(None, 0)`. The leaf `a` has no `grad_fn`, but its gradient must go somewhere: the edge
# leads to an `AccumulateGrad`, which adds to `a.grad`.

# %%
node = d.grad_fn
while node is not None:
    names = [below and below.name() for below, _ in node.next_functions]
    print(f"{node.name():36}{names}")
    node = node.next_functions[0][0] if node.next_functions else None
#> MeanBackward0                       ['MulBackward0']
#> MulBackward0                        ['PowBackward0', None]
#> PowBackward0                        ['torch::autograd::AccumulateGrad']
#> torch::autograd::AccumulateGrad     []

# %% [markdown]
# So tensors hold nodes, and nodes hold nodes. The edges point from a result to the values that it was computed from,
# and never back. Such a structure is a *directed acyclic graph*.
#
# ## A graph is rarely a chain
#
# Here `x` is used twice, and so is `y`. `retrograd.viz` shows graphs: `tree` as text, `svg` as a picture.

# %% tags=["retrograd"]
from retrograd import viz

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x.exp()
loss = (x * y + y).sum()
print(viz.tree(loss, {"x": x}))
#> SumBackward0 []
#> └─ AddBackward0 [3]
#>    ├─ MulBackward0 [3]
#>    │  ├─ x [3]
#>    │  └─ ExpBackward0 [3]
#>    │     └─ x [3]
#>    └─ ExpBackward0 [3] (see above)

# %% tags=["retrograd"] alt="Sum leads to Add, Add to Mul and Exp, Mul to Exp, and Mul and Exp to the leaf x"
from pathlib import Path

Path("graph.svg").write_text(viz.svg(loss, {"x": x}), encoding="utf-8")

# %% [markdown]
# ## The pass, by hand
#
# A backward pass is a walk over this graph. It must not visit `ExpBackward0` before both of its users have sent their
# part: the product and the sum. There is a simple order that is always right: the *newest node first*. A node is newer
# than everything it was computed from.
#
# Let us do it ourselves, on paper first:
#
# | node | what arrives | what it sends |
# |---|---|---|
# | `SumBackward0` | 1 | 1 for each of three numbers |
# | `AddBackward0` | 1, 1, 1 | the same to both inputs |
# | `MulBackward0` | 1, 1, 1 | y to `x`, and x to `y` |
# | `ExpBackward0` | 1 + x: two parts, added | (1 + x) · eˣ to `x` |
# | `AccumulateGrad` | y + (1 + x) · eˣ: two parts, added | nothing: this is `x.grad` |

# %%
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x.exp()
loss = (x * y + y).sum()
loss.backward()
with torch.no_grad():
    print(x.grad)
    print(y + (1 + x) * x.exp())
#> tensor([  8.1548,  29.5562, 100.4277])
#> tensor([  8.1548,  29.5562, 100.4277])

# %% [markdown]
# Hooks let us watch the real walk. A hook on a node runs when the node has done its work. ([Hooks](hooks.py) have a
# page of their own.)

# %%
def all_nodes(node, found=None):
    found = {} if found is None else found
    if node is not None and node not in found:
        found[node] = None
        for below, _ in node.next_functions:
            all_nodes(below, found)
    return found

loss = (x * (y := x.exp()) + y).sum()

def watch(node):
    name = node.name().split("::")[-1]
    def seen(found, arrived):
        print(f"{name:16} got {[round(g.sum().item(), 1) for g in arrived]}")
    return node.register_hook(seen)

handles = [watch(node) for node in all_nodes(loss.grad_fn)]
loss.backward()
for handle in handles:
    handle.remove()
#> SumBackward0     got [1.0]
#> AddBackward0     got [3.0]
#> MulBackward0     got [3.0]
#> ExpBackward0     got [9.0]
#> AccumulateGrad   got [138.1]

# %% [markdown]
# The numbers are sums over the three elements. `ExpBackward0` ran once, although two nodes sent to it: the walk waited
# until both parts were there, and added them.
#
# ## Walk yourself
#
# `viz.explore` writes one HTML file, in which you step through the pass node by node. Press the arrow keys, or click a
# node: you see what arrived, what was saved, and the rule that ran.

# %% tags=["retrograd"] alt="The backward pass of this graph, to walk through"
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x.exp()
print(viz.explore((x * y + y).sum(), "pass.html", {"x": x}))
#> <a backward pass of 5 nodes, 12 bytes saved>

# %% [markdown]
# ## The graph is used up
#
# A node keeps the numbers that its rule needs. After the walk they are freed, so that memory goes down while the pass
# runs. A second pass over the same graph is refused:

# %%
loss = (x * x.exp()).sum()
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    print(str(error).partition(" (")[0])
#> Trying to backward through the graph a second time

# %% [markdown]
# `retain_graph=True` keeps the numbers. You need it if two losses share a part of the graph:

# %%
x.grad = None
trunk = x ** 2                         # shared
near, far = trunk.sum(), (trunk ** 2).sum()
near.backward(retain_graph=True)
print(x.grad)
far.backward()
print(x.grad)
#> tensor([2., 4., 6.])
#> tensor([  6.,  36., 114.])

# %% [markdown]
# Often you do not need `retain_graph`: `(near + far).backward()` walks once and gives the same gradients.
#
# The next forward pass makes a *new* graph, with nothing of the old graph in it. So `if` and `while` just work. But if
# you keep a loss in a list, it keeps its whole graph alive ([memory and checkpoints](memory.py)).
#
# ## Cutting the graph
#
# `detach()` gives a tensor with the same numbers and no history. The walk ends there.

# %%
t = torch.tensor(3., requires_grad=True)
(t * t).backward()
both = t.grad
t.grad = None
(t * t.detach()).backward()
print(both, t.grad)
#> tensor(6.) tensor(3.)

# %% [markdown]
# The first gradient is 2t. In the second product only one of the two factors counts, so its gradient is t.
#
# ## A graph of a gradient
#
# With `create_graph=True`, the walk itself is remembered, and the gradient has a graph of its own. So you can
# differentiate again. `autograd.grad` returns gradients and leaves `.grad` alone.

# %%
(slope,) = torch.autograd.grad(t ** 3, t, create_graph=True)
(bend,) = torch.autograd.grad(slope, t)
print(slope, bend)
#> tensor(27., grad_fn=<MulBackward0>) tensor(18.)

# %% [markdown]
# ## Exercise
#
# Write a function that counts how often a node is *used* in the graph of a tensor: the number of edges that lead to it.
# Check that `AccumulateGrad` is used three times in `(x * x).sum() + x.sum()`. An engine counts the same to know when
# all parts have arrived.

# %% tags=["hide-cell"]
def uses(loss):
    counted = {}
    for node in all_nodes(loss.grad_fn):
        for below, _ in node.next_functions:
            if below is not None:
                name = below.name().split("::")[-1]
                counted[name] = counted.get(name, 0) + 1
    return counted

print(uses((x * x).sum() + x.sum()))
#> {'SumBackward0': 2, 'MulBackward0': 1, 'AccumulateGrad': 3}

# %% [markdown]
# ## Where to read the source
#
# - `graph/node.py`: what a node is, with its edges and `next_functions`.
# - `graph/engine.py`: `Pass` lists the nodes by age, and `Pass.give` adds what meets.
# - [How a value and its gradient travel](../tour.md) walks through both, file by file.
#
# Next: [a training loop from nothing](training.py). {download}`This page as a script <graph_walk.py>`.
