# %% [markdown]
# # Speed and compile
#
# **You will learn** where the time of a program goes, what makes it faster, and how to let `torch.compile` do the rest.
#
# Times differ from machine to machine. So this page shows times only in pictures, from the machine that built the page.
# Measure on your machine.

# %%
import time
import retrograd as torch

def seconds(function, repeat=5):
    """The shortest of several calls: the others waited for something."""
    function()
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)

# %% [markdown]
# ## Two kinds of cost
#
# An operation costs a fixed amount for being called (find the function, look at the types, make a node) and an amount
# for each number. Here is one product, forward and backward, for arrays of different sizes.

# %% alt="The time of a product is flat up to a thousand numbers, and then grows with the size"
from retrograd.extras import skip_without

def product(n):
    x = torch.rand(n, requires_grad=True)
    g = torch.ones(n)
    def run():
        for _ in range(20):
            (x * 2.).backward(g)
        x.grad = None
    return run

sizes = [10 ** k for k in range(7)]
times = [seconds(product(n), 3) / 20 * 1e6 for n in sizes]
with skip_without("matplotlib"):
    import matplotlib.pyplot as plt
    fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.loglog(sizes, times, "o-", color="#0072B2")
    ax.set_xlabel("numbers in the array")
    ax.set_ylabel("microseconds")
    fig.savefig("cost.svg")

# %% [markdown]
# Up to some thousand numbers, the time hardly changes: you pay for the *call*. Then it grows with the size: you pay for
# the *memory*. So there are two rules:
#
# - Small arrays: make fewer calls.
# - Large arrays: move fewer bytes.
#
# ## Fewer calls: no loop over elements
#
# These two functions compute the same. Count their nodes.

# %%
def with_a_loop(x):
    total = torch.zeros(())
    for i in range(len(x)):
        total = total + x[i] * x[i]
    return total

def at_once(x):
    return (x * x).sum()

def nodes(tensor):
    found, todo = set(), [tensor.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in found:
            found.add(node)
            todo += [below for below, _ in node.next_functions]
    return len(found)

x = torch.linspace(0, 1, 100, requires_grad=True)
slow, fast = with_a_loop(x), at_once(x)
print(torch.allclose(slow, fast), nodes(slow), nodes(fast))
#> True 401 3

# %% [markdown]
# If you cannot see how to write a function without the loop, write the function for one sample: `vmap` makes a function
# of the batch ([Jacobians, Hessians, forward mode and vmap](derivatives.py)).
#
# ## Ask the profiler
#
# Do not guess. The profiler counts calls and times them. (Its table has more columns; here are the counts.)

# %%
x = torch.rand(2, 3, requires_grad=True)
y = torch.rand(2, 3, requires_grad=True)
z = torch.ones(2, 3, requires_grad=True)
with torch.autograd.profiler.profile() as profile:
    for _ in range(1000):
        z = (z / x) * y
for row in sorted(profile.key_averages(), key=lambda row: row.key):
    print(row.key, row.count)
#> aten::div 1000
#> aten::mul 1000

# %% [markdown]
# `print(profile.key_averages().table(sort_by="self_cpu_time_total"))` prints the whole table, and
# `profile.export_chrome_trace("trace.json")` writes a timeline for a browser.
#
# ## Cheap habits
#
# | habit | why |
# |---|---|
# | `with torch.no_grad():` when you measure or predict | no nodes |
# | `optimizer.zero_grad()` as it is: it sets gradients to None | nothing is filled with zeros |
# | `loss.item()` only now and then | on a GPU, with PyTorch, the program waits for the number |
# | `float32`, not `float64` | half of the bytes |
# | `x.add_(y)` where it is allowed | no new array |
# | `OPENBLAS_NUM_THREADS=1` for small networks | threads wait for each other |
#
# ## Compile a step
#
# `torch.compile` runs a function once, and writes down what it computes. Later calls run the plan without the Python of
# the function. Compile the whole step: forward, backward and optimizer.

# %% tags=["retrograd"]
def network():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x = torch.randn(32, 8)
    y = x.sum(1, keepdim=True)

    def step():
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step

plain, compiled = network(), torch.compile(network(), backend="numpy")
for _ in range(50):
    one, other = plain(), compiled()
print(one, torch.equal(one, other))
#> tensor(0.2364) True

# %% [markdown]
# The numbers are the same, bit for bit. And the time?

# %% tags=["retrograd"] alt="Two bars: the compiled step takes less time"
bars = {"as it is": seconds(lambda: [plain() for _ in range(20)]) / 20,
        "compiled": seconds(lambda: [compiled() for _ in range(20)]) / 20}
with skip_without("matplotlib"):
    import matplotlib.pyplot as plt
    fig, ax = plt.subplots(figsize=(6, 1.6), layout="constrained")
    ax.barh([*bars], [1e6 * value for value in bars.values()],
            color=["#0072B2", "#D55E00"])
    ax.invert_yaxis()
    ax.set_xlabel("microseconds for one step")
    fig.savefig("compiled.svg")

# %% [markdown]
# With the package `llvmlite` (`pip install llvmlite`), the plan becomes machine code, which is faster still.
#
# ## Read the plan
#
# `explain` shows what a function became. Elementwise operations that follow each other are one loop: each number is
# read once, and written once. That is "move fewer bytes".

# %% tags=["retrograd"]
def energy(x, y):
    wrong = torch.tanh(x) - y
    return (wrong * wrong + 0.1 * x.abs()).sum()

plan = str(torch.compile.explain(energy, torch.arange(6.), torch.ones(6)))
for line in plan.splitlines()[2:]:
    print(line.partition("#")[0].rstrip())
#>   7 lines traced, 1 unit after loops
#>   for each element of [6], 6 in all:
#>     v2 = tanh(v0)                                float32[6]
#>     v3 = sub(v2, v1)                             float32[6]
#>     v4 = mul(v3, v3)                             float32[6]
#>     v5 = abs(v0)                                 float32[6]
#>     v7 = mul(v5, v6)                             float32[6]
#>     v8 = add(v4, v7)                             float32[6]
#>     v9 = sum(v8, None)                           float32[]
#>   return v9

# %% [markdown]
# If a function branches on its numbers (`if x.sum() > 0`), each way gets a plan. If a function prints its numbers, no
# plan can do the same: the function runs as it is, and a warning names the line.
#
# ## Exercise
#
# This function computes the mean distance between all pairs of points. How many nodes does it have for 30 points? Write
# it with three or four operations, and check that the value is the same.

# %%
def mean_distance(points):
    total = 0.
    for p in points:
        for q in points:
            total = total + (p - q).abs().sum()
    return total / len(points) ** 2

torch.manual_seed(0)
points = torch.rand(30, 2, requires_grad=True)

# %% tags=["hide-cell"]
def faster(points):
    return (points[:, None] - points[None]).abs().sum(-1).mean()

print(nodes(mean_distance(points)), nodes(faster(points)))
print(torch.allclose(mean_distance(points), faster(points)))
#> 3633 7
#> True

# %% [markdown]
# ## Where to read the source
#
# - `tensors/recording/calls.py`: everything that a call costs, in `_unary` and `_binary`.
# - `compilation/trace/tracing.py`, `compilation/passes/fusing.py`: from a trace to loops.
# - `compilation/execution/plan.py`: what runs them.
# - [Compiled functions](../compile.md) has the rules, [What makes a program fast or slow](../performance.md) figures.
#
# Next: [write autograd yourself, in ten steps](ten_steps.py). {download}`This page as a script <speed.py>`.
