# %% [markdown]
# # Memory and checkpoints
#
# **You will learn** what a graph keeps in memory, how to see it, and four ways to keep less.

# %%
import retrograd as torch

nn = torch.nn

# %% [markdown]
# ## What is kept
#
# A rule needs numbers from the forward pass. So a node keeps them until the backward pass has used them. How many bytes
# is that? Autograd tells you through `saved_tensors_hooks`: the first function gets each value that is kept. The second
# function gives the value back when the pass needs it.

# %%
def bytes_kept(function, *args):
    seen = {}
    def keep(t):
        seen[t.data_ptr()] = t.numel() * t.element_size()     # each memory once
        return t
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        function(*args)
    return sum(seen.values())

x = torch.rand(1000, requires_grad=True)
print("x + 1:      ", bytes_kept(lambda x: x + 1, x))
print("x.exp():    ", bytes_kept(lambda x: x.exp(), x))
print("x.sin():    ", bytes_kept(lambda x: x.sin(), x))
print("x * x.sin():", bytes_kept(lambda x: x * x.sin(), x))
#> x + 1:       0
#> x.exp():     4000
#> x.sin():     4000
#> x * x.sin(): 8000

# %% [markdown]
# 1,000 numbers in `float32` are 4,000 bytes. A sum needs nothing. `exp` keeps its result, `sin` keeps its input. The
# last line keeps `x`, once for both, and the sine.
#
# ## Who keeps it?
#
# retrograd can list everything that a tensor keeps alive, with the largest first.

# %% tags=["retrograd"]
torch.manual_seed(0)
rows = torch.rand(1000, 50)
weight = torch.rand(50, 10, requires_grad=True)
loss = (rows @ weight).tanh().square().sum()
held = torch.autograd.graph.memory_held
print(str(held(loss)).partition("Lines")[0].rstrip())
loss.backward()
print(f"after the backward pass: {held(loss).total:,} bytes")
#>   bytes  held by        what               recorded at
#> 200,000  MmBackward0    float32[1000, 50]
#>  40,000  PowBackward0   float32[1000, 10]
#>   2,000  a leaf         float32[50, 10]
#>       4  the tensor     float32[]
#>       0  TanhBackward0  float32[1000, 10]
#> 242,004  in all
#> after the backward pass: 4,004 bytes

# %% [markdown]
# The backward pass frees what it has used. Two habits keep memory by mistake:
#
# - `losses.append(loss)` keeps the whole graph of each step. Write `loss.item()`.
# - `retain_graph=True` everywhere keeps what one pass would free.
#
# ## Way 1: record nothing
#
# If you need no gradient, there is no need for a graph.

# %%
model = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.Tanh()) for _ in range(12)])
batch = torch.rand(256, 64)
print(f"recorded:  {bytes_kept(model, batch):,}")
with torch.no_grad():
    print(f"no_grad(): {bytes_kept(model, batch):,}")
#> recorded:  1,032,192
#> no_grad(): 0

# %% [markdown]
# ## Way 2: checkpoints
#
# A checkpoint keeps only the *input* of a part of the model. When the backward pass comes to this part, the
# checkpoint runs the part again, and so gets the values back. You pay one more forward pass, and keep much less.

# %%
checkpoint = torch.utils.checkpoint.checkpoint
checkpoint_sequential = torch.utils.checkpoint.checkpoint_sequential

def tell(x):
    print("run")
    return x.sin() * x

x = torch.tensor([1., 2.], requires_grad=True)
y = checkpoint(tell, x, use_reentrant=False).sum()
print("backward")
y.backward()
print(x.grad)
#> run
#> backward
#> run
#> tensor([1.3818, 0.0770])

# %% [markdown]
# `checkpoint_sequential` cuts a model into segments. With n layers and about √n segments, the memory grows with √n
# instead of n: the inputs of all segments, and the inner values of one.

# %%
def in_segments(batch):
    return checkpoint_sequential(model, 4, batch, use_reentrant=False)

torch.manual_seed(0)
plain = torch.autograd.grad(model(batch).sum(), model[0][0].weight)[0]
saving = torch.autograd.grad(in_segments(batch).sum(), model[0][0].weight)[0]
print(torch.equal(plain, saving))
#> True

# %% [markdown]
# Here is the memory of the arrays over one step, measured after each layer of the forward pass and of the backward
# pass.

# %% tags=["retrograd"]
import gc
import tracemalloc

def curve(forward):
    data = torch.rand(4096, 64, requires_grad=True)
    forward(data).sum().backward()            # what is made once is not measured
    data.grad = None
    model.zero_grad()
    found = []
    def measure(*_):
        found.append((tracemalloc.get_traced_memory()[0] - start) / 1e6)
    handles = [layer.register_forward_hook(measure) for layer in model]
    handles += [layer.register_full_backward_hook(measure) for layer in model]
    gc.collect()
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    forward(data).sum().backward()
    tracemalloc.stop()
    model.zero_grad()
    for handle in handles:
        handle.remove()
    return found

curves = {"plain": curve(model), "4 checkpoints": curve(in_segments)}
for name, heights in curves.items():
    print(f"{name}: {max(heights):.0f} MB at most")
#> plain: 13 MB at most
#> 4 checkpoints: 7 MB at most

# %% tags=["retrograd"] alt="Memory over a step: one high peak; with checkpoints, small teeth of half the height"
from retrograd.extras import skip_without

with skip_without("matplotlib"):
    import matplotlib.pyplot as plt
    fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for (name, heights), look in zip(curves.items(), ("-", "--")):
        at = torch.linspace(0, 1, len(heights))
        color = "#0072B2" if look == "-" else "#D55E00"
        ax.plot(at, heights, look, color=color, label=name)
    ax.set_xlabel("the step, from its beginning to its end")
    ax.set_ylabel("megabytes")
    ax.set_ylim(0)
    ax.legend()
    fig.savefig("step.svg")

# %% [markdown]
# ## Way 3: keep it smaller, or elsewhere
#
# The two functions of `saved_tensors_hooks` may return anything. Here each value is kept with half as many bits. The
# gradient is a little less exact.

# %%
hooks = torch.autograd.graph.saved_tensors_hooks
x = torch.linspace(0, 1, 6, requires_grad=True)
with hooks(lambda t: t.half(), lambda t: t.float()):
    y = x.sin().sum()
y.backward()
print(x.grad)
print((x.grad - x.detach().cos()).abs().max())
#> tensor([1.0000, 0.9801, 0.9211, 0.8253, 0.6968, 0.5403])
#> tensor(0.0001)

# %% [markdown]
# And here on a disk:

# %%
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
count = 0

def to_disk(t):
    global count
    count += 1
    path = folder / f"{count}.pt"
    torch.save(t, path)
    return path

x = torch.rand(1000, requires_grad=True)
with hooks(to_disk, torch.load):
    y = (x.sin() * x.exp()).sum()
print(count, "files")
y.backward()
print(torch.allclose(x.grad, x.cos() * x.exp() + x.sin() * x.exp()))
#> 4 files
#> True

# %% [markdown]
# ## Way 4: smaller batches
#
# Gradients add up. So four small batches give the gradient of a large one, and only one small graph exists at a time.

# %%
large = torch.autograd.grad(model(batch).square().mean(), model[0][0].weight)[0]
for part in batch.chunk(4):
    (model(part).square().mean() / 4).backward()
print(torch.allclose(model[0][0].weight.grad, large, atol=1e-7))
#> True

# %% [markdown]
# ## Exercise
#
# A function may be written in two ways: `x * torch.sigmoid(x)` keeps x and the sigmoid. Write a `Function` that keeps
# only x, and check with `bytes_kept` and `gradcheck`. (That is what a checkpoint of this line would do, too.)

# %% tags=["hide-cell"]
class Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return g * s * (1 + x * (1 - s))

x = torch.rand(1000, requires_grad=True)
print(bytes_kept(lambda x: x * torch.sigmoid(x), x), bytes_kept(Silu.apply, x))
points = torch.rand(5, dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(Silu.apply, points))
#> 8000 4000
#> True

# %% [markdown]
# ## Where to read the source
#
# - `ops/framework.py`: the names in a rule decide what is kept (`_position`).
# - `graph/engine.py`: `Pass` frees a node's values after it has run.
# - `utils/checkpoint.py` and `utils/recomputation.py`: checkpoints. [Checkpoints](../checkpoint.md) explains them.
# - `autograd/memory.py`: `memory_held`. [Finding bad numbers, and memory](../debugging.md) shows it with lines.
#
# Next: [speed and compile](speed.py). {download}`This page as a script <memory.py>`.
