# %% [markdown]
# # In-place writes and views, and why errors happen
#
# **You will learn** what happens if you write over numbers that a derivative needs, why autograd notices, and what to
# write instead.

# %%
import retrograd as torch

def first_sentence(error):
    return str(error).partition("; expected")[0].partition(". ")[0].rstrip(".")

# %% [markdown]
# ## The problem
#
# The derivative of exp is exp itself. So the node of `x.exp()` keeps its *result*, `y`. Now write over `y`:

# %%
x = torch.tensor([0., 1.], requires_grad=True)
y = x.exp()
y += 1
try:
    y.sum().backward()
except RuntimeError as error:
    print(first_sentence(error))
#> one of the variables needed for gradient computation has been modified by an inplace
#>     operation: [torch.FloatTensor [2]], which is output 0 of Exp, is at version 1

# %% [markdown]
# Without this error, the gradient would be eˣ + 1: a wrong number that nobody notices. Autograd counts the writes to
# each memory. The count is called the *version*. The node knows which version it saved, and compares the two versions.

# %%
y = x.exp()
print(y._version)
y += 1
y[0] = 7
print(y._version)
#> 0
#> 2

# %% [markdown]
# ## Not every write is wrong
#
# A write is wrong only if a rule needs the old numbers. The rule of `x * 2` needs the 2, not the result:

# %%
y = x * 2
y += 1
y.sum().backward()
print(x.grad)
#> tensor([2., 2.])

# %% [markdown]
# | operation | its rule needs | a write over the result is |
# |---|---|---|
# | `exp`, `tanh`, `sigmoid`, `sqrt`, `relu` | the result | an error |
# | `sin`, `x ** 2`, `x * y` | the inputs | fine, unless an input is written |
# | `+`, `-`, `x * 2`, `sum` | no tensor | fine |
#
# ## Three ways out
#
# Write to a copy; use the operation that returns a new tensor; or change the order.

# %%
x.grad = None
y = x.exp()
z = y.clone()
z += 1                    # a copy
(z + (y + 1)).sum().backward()      # a new tensor
print(x.grad)
#> tensor([2.0000, 5.4366])

# %% [markdown]
# ## Leaves
#
# A leaf that requires a gradient must not be written while autograd records. Which value would the gradient be for?

# %%
weight = torch.tensor([1., 2.], requires_grad=True)
try:
    weight -= 0.1
except RuntimeError as error:
    print(first_sentence(error))

with torch.no_grad():     # an update: nothing is recorded
    weight -= 0.1
print(weight)
#> a leaf Variable that requires grad is being used in an in-place operation
#> tensor([0.9000, 1.9000], requires_grad=True)

# %% [markdown]
# ## Views
#
# `y[:2]`, `y.T` and `y.view(2, 3)` copy nothing. They look at the same memory. So a write through one changes the
# other, and the derivative must follow.

# %%
x = torch.ones(3, requires_grad=True)
y = x * 2
first = y[:2]
first *= 10               # changes y, too
print(y)
y.sum().backward()
print(x.grad)
#> tensor([20., 20.,  2.], grad_fn=<CopySlices>)
#> tensor([20., 20.,  2.])

# %% [markdown]
# Two of the three numbers count ten times as much. The `grad_fn` of `y` says `CopySlices`: "everything as before, but a
# part was written". Look at the graph before and after:

# %%
def names(node):
    found = []
    while node is not None:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return " → ".join(found)

y = x * 2
first = y[:2]
print(names(y.grad_fn))
print(names(first.grad_fn))
first *= 10
print(names(y.grad_fn))
print(names(first.grad_fn))
#> MulBackward0 → AccumulateGrad
#> SliceBackward0 → MulBackward0 → AccumulateGrad
#> CopySlices → MulBackward0 → AccumulateGrad
#> AsStridedBackward0 → CopySlices → MulBackward0 → AccumulateGrad

# %% [markdown]
# The write gave the *base* a new history, and the view is now a piece of the new base. [What happens when a tensor is
# written in place](../inplace.md) tells the whole story, with a picture of each step.
#
# ## Filling a buffer
#
# A common pattern: make a buffer, and write results into it. It works, and each value gets its gradient.

# %%
t = torch.tensor(2., requires_grad=True)
buffer = torch.zeros(4)
buffer[0] = t
for i in range(1, 4):
    buffer[i] = buffer[i - 1].clone() * t
print(buffer)
buffer.sum().backward()
print(t.grad)               # 1 + 2t + 3t² + 4t³ at t = 2
#> tensor([ 2.,  4.,  8., 16.], grad_fn=<CopySlices>)
#> tensor(49.)

# %% [markdown]
# Why the `clone()`? Without it, the product keeps `buffer[i - 1]`, which is a view of the buffer, and the next turn
# writes to the buffer. The version belongs to the whole memory. So autograd would raise an error, although the write
# goes to another element. The usual way is a list, and `torch.stack` at the end, which is also faster.

# %%
t.grad = None
powers = [t]
for _ in range(3):
    powers.append(powers[-1] * t)
torch.stack(powers).sum().backward()
print(t.grad)
#> tensor(49.)

# %% [markdown]
# ## Views that must not be written
#
# Some views come in groups, and a write to one of them would need all others to change their history. Autograd refuses
# these writes.

# %%
left, right = (x * 2).unbind()[:2]
try:
    left += 1
except RuntimeError as error:
    print(first_sentence(error))
#> Output 0 of Unbind is a view and is being modified inplace

# %% [markdown]
# ## Writes that autograd does not see
#
# `detach()` shares the memory and the version. So autograd notices a write through `detach()`. `.data` shares the
# memory and hides the write: the gradient is silently wrong. Do not use `.data`.

# %%
x = torch.tensor([1., 2.], requires_grad=True)
y = x.exp()
y.detach().zero_()
try:
    y.sum().backward()
except RuntimeError as error:
    print(first_sentence(error))

y = x.exp()
y.data.zero_()
y.sum().backward()
print("wrong:", x.grad)
#> one of the variables needed for gradient computation has been modified by an inplace
#>     operation: [torch.FloatTensor [2]], which is output 0 of Exp, is at version 1
#> wrong: tensor([0., 0.])

# %% [markdown]
# ## Which line was it?
#
# In anomaly mode the notes below the message name both lines: where the value was saved, and where it was written.
# (Lines are counted in the script of this page.)

# %% tags=["retrograd"]
x = torch.tensor([0., 1.], requires_grad=True)
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    y = x.exp()
    y += 1
    try:
        y.sum().backward()
    except RuntimeError as error:
        print("\n".join(error.__notes__))
#>   saved      by ExpBackward0, recorded at inplace_views.py:213    y = x.exp()
#>   modified   at inplace_views.py:214    y += 1
#>   instead    write to a clone, or use the operation that returns a new tensor
#>   node       ExpBackward0, recorded at inplace_views.py:213    y = x.exp()
#>   read more  retrograd help modified-in-place

# %% [markdown]
# ## Exercise
#
# This program wants the running product of `x`. It fails. Say why, and mend it in two ways.
#
# ```
# out = x.clone()
# for i in range(1, 4):
#     out[i] *= out[i - 1]
# out.sum().backward()
# ```

# %% tags=["hide-cell"]
# Each product keeps out[i - 1], which lies in memory that the next turn writes to.
x = torch.tensor([1., 2., 3., 4.], requires_grad=True)
running = [x[0]]
for i in range(1, 4):
    running.append(x[i] * running[-1])
torch.stack(running).sum().backward()
print(x.grad)

x.grad = None
x.cumprod(0).sum().backward()
print(x.grad)
#> tensor([33., 16., 10.,  6.])
#> tensor([33., 16., 10.,  6.])

# %% [markdown]
# ## Where to read the source
#
# - `graph/versions.py` counts writes, for each memory.
# - `tensors/recording/inplace.py` records a write; its comment about `CopySlices` is worth the time.
# - [Errors of writes in place](../errors/in-place.md) shows each error, with a program that fails and one that works.
#
# Next: [Jacobians, Hessians, forward mode and vmap](derivatives.py).
# {download}`This page as a script <inplace_views.py>`.
