# %% [markdown]
# # Reading the source in an afternoon
#
# **You will learn** to find your way in retrograd's source: which files matter, in which order, and what to look for.
#
# Autograd is smaller than people think. Everything else is operators, modules and conveniences, in the same style.
#
# ## The list
#
# [The files on the way](../tour.md#the-files) from `x * y` to `x.grad` stand in one table. A run of a program makes the
# table, so no file is missing and none is too many. Begin each file with the text on its top: it says what the file is
# for. Then look for these names:
#
# - `Op` and `elementwise` in `ops/framework.py`: what an operator is
# - `TensorBase` and `edge_of` in `tensors/state/base.py`: what a tensor holds
# - `recorded` and `_binary` in `tensors/recording/calls.py`: how a call leaves a node
# - `Node` and `AccumulateGrad` in `graph/node.py`: what a graph is made of
# - `Pass`, `give` and `run` in `graph/engine.py`: the backward pass
# - `run_backward` and `accumulate` in `tensors/recording/gradients.py`: from `backward()` to `.grad`
#
# Paths are relative to `src/retrograd`. Four more files are worth reading, although the program of the tour does not
# enter them. `graph/fit.py` has `fit`, which brings a gradient into the shape of its input.
# `tensors/recording/inplace.py` has `over` and `CopySlices`, for writes in place. `graph/hooks.py` has `Hooks`, and
# `autograd/function.py` has `Function`, for functions of your own.
#
# ## The source on your disk
#
# The source is where your package is. Python can show it:

# %% tags=["retrograd"]
import inspect
import retrograd as torch
from retrograd.graph import fit

print(inspect.getsource(fit.fit).rpartition('"""\n')[2])
#>     if dtype.kind == "c" and to_dtype.kind != "c":
#>         g, dtype = real(g), np.dtype(f"f{dtype.itemsize // 2}")
#>     if shape != to_shape:
#>         g = unbroadcast(g, shape, to_shape)
#>     return g if dtype == to_dtype else cast(g, to_dtype)
#>

# %% [markdown]
# This is the body of `fit`. `g` is a gradient, on its way to an input of the shape `to_shape`. A rule never thinks
# about broadcasting: `fit` undoes it for all of them.
#
# ## An operator, as it stands
#
# `ops/elementwise/elementary.py` is a list of statements. Each one is an operator: its name, its kernel (a NumPy
# function) and a rule. The names of a rule's parameters say what is saved.

# %% tags=["retrograd"]
from retrograd.ops.elementwise import arithmetic, elementary

for module, wanted in ((elementary, ("exp", "sin")), (arithmetic, ("mul",))):
    for line in inspect.getsource(module).splitlines():
        if line.startswith(tuple(f"{name} = " for name in wanted)):
            print(line)
#> exp = elementwise("exp", np.exp, domain="float", x=lambda g, out: g * out)
#> sin = elementwise("sin", np.sin, domain="float", x=lambda g, x: g * np.cos(x))
#> mul = elementwise("mul", np.multiply, x=lambda g, y: g * y, y=lambda g, x: g * x)

# %% [markdown]
# ## Where a program goes
#
# Let the program itself say what to read. Python can call a function of yours at each call. This one notes the
# functions in the folders `graph`, `ops` and `tensors`, file by file, in the order in which they are first called.
# First the forward pass:

# %% tags=["retrograd"]
import sys
from pathlib import Path

SOURCE = Path(torch.__file__).parent

def visited(function):
    found = {}
    def note(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        name = frame.f_code.co_name
        if event == "call" and SOURCE in path.parents and not name.endswith("comp>"):
            place = path.relative_to(SOURCE).as_posix()
            if place.startswith(("graph/", "ops/", "tensors/")):
                found.setdefault(place, {})[name] = None
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    for place, names in found.items():
        print(f"{place}: {', '.join(names)}")

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = torch.tensor([4., 5., 6.])
x * y                                   # the first product makes the class of its nodes
visited(lambda: x * y)
#> tensors/recording/calls.py: call
#> tensors/state/base.py: edge_of, accumulator_of

# %% [markdown]
# The product is one function, `call`, and it asks for the edge of `x`. Everything else was prepared by the import and
# by the first product. Now the backward pass:

# %% tags=["retrograd"]
loss = (x * y).sum()
visited(loss.backward)
#> tensors/recording/public.py: entry
#> tensors/tensor.py: backward
#> tensors/recording/gradients.py: refuse_inside, starting, implicit, root_edge,
#>     run_backward, accumulate
#> tensors/state/base.py: requires, plain, edge_of
#> graph/node.py: node
#> graph/engine.py: __init__, give, run, _run_plainly, _looking, _nodes, _use, _delivered,
#>     _arrive
#> graph/route.py: __init__, _collect, _meet
#> ops/reductions.py: <lambda>
#> ops/framework.py: __call__
#> graph/versions.py: written_since, note_writer
#> ops/elementwise/arithmetic.py: <lambda>
#> graph/ownership.py: hold, count, _memory_alone

# %% [markdown]
# Each `<lambda>` is a rule: the first is the rule of `sum`, the second the rule of `mul`. This is the whole engine at
# work. If you read these functions, and nothing else, you know how a gradient is made. The table in the tour is made in
# the same way.
#
# ## Questions to read by
#
# Reading with a question is quicker than reading. Try these, in this order:
#
# 1. Why are nodes visited in the order of their numbers, and not by a topological sort? (`graph/route.py`, `_collect`)
# 2. When may the engine add into an array, and when must it make a new one? (`give`)
# 3. Who notices that a saved array was written? (`graph/versions.py`, and `_use` in the engine)
# 4. Why does a rule work for second derivatives without another line? (`tensors/recording/recorder.py`,
#    `TensorRecorder`)
# 5. What is the smallest thing that `CopySlices` could be? (`tensors/recording/inplace.py`)
#
# [How a value and its gradient travel](../tour.md) answers them on one small program, file by file. [The
# architecture](../architecture.md) has the reasons.
#
# ## Exercise
#
# An engine is a loop over nodes, newest first. Write one in ten lines that works on the graph of `loss` below: take the
# newest node, call it with what has arrived, and hand the results to `next_functions`. A node of retrograd can be
# called: `node(g)` returns its gradients, as in PyTorch.

# %%
a = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor([3., 4.], requires_grad=True)
loss = ((a * b).exp() * a).sum()

# %% tags=["hide-cell"]
def run(root):
    arrived, result = {root: torch.ones(())}, {}
    while arrived:
        node = max(arrived, key=lambda node: node._sequence_nr())
        found = node(arrived.pop(node))
        found = found if isinstance(found, tuple) else (found,)
        for (below, _), part in zip(node.next_functions, found):
            if below is not None:
                leaf = getattr(below, "variable", None)
                where, key = (arrived, below) if leaf is None else (result, leaf)
                where[key] = where[key] + part if key in where else part
    return result

mine = run(loss.grad_fn)
theirs = torch.autograd.grad(((a * b).exp() * a).sum(), (a, b))
print(torch.equal(mine[a], theirs[0]), torch.equal(mine[b], theirs[1]))
#> True True

# %% [markdown]
# Leaves need a place of their own: nothing comes after them, so they are never in the list. `Pass` does the same.
#
# ## Where to go on
#
# [Adding an operator](../contributing.md) is the best exercise of all. {download}`This page as a script <reading.py>`.
