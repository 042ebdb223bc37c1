# %% [markdown]
# # A training loop from nothing
#
# **You will learn** how a model learns: first with nothing but gradients, then with modules and an optimizer that do
# the same work for you.

# %%
import math
import retrograd as torch

# %% [markdown]
# ## The task
#
# Find a cubic, a + bx + cx² + dx³, that looks like the sine between −π and π. We know the sine at 200 points. The four
# numbers a, b, c and d are the *parameters*. They begin as random numbers.

# %%
torch.manual_seed(0)
x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)
a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))

# %% [markdown]
# ## One step
#
# A step has four parts. They are the same for a cubic and for a language model.
#
# 1. **Forward**: compute a prediction, and one number that says how wrong it is: the *loss*.
# 2. **Backward**: find the slope of the loss for each parameter.
# 3. **Update**: move each parameter a little against its slope.
# 4. **Forget** the gradients, because the next gradients would be added to them.

# %%
def predict():
    return a + b * x + c * x ** 2 + d * x ** 3

def step(rate):
    loss = (predict() - y).pow(2).mean()      # 1
    loss.backward()                           # 2
    with torch.no_grad():                     # 3, and this must not be remembered
        for parameter in (a, b, c, d):
            parameter -= rate * parameter.grad
            parameter.grad = None             # 4
    return loss.item()

losses = [step(rate=0.002) for _ in range(2000)]
print(f"loss: {losses[0]:.3f} at the start, {losses[-1]:.4f} at the end")
print(f"y = {a.item():.3f} + {b.item():.3f}x + {c.item():.3f}x² + {d.item():.3f}x³")
#> loss: 110.494 at the start, 0.0063 at the end
#> y = 0.058 + 0.836x + -0.010x² + -0.090x³

# %% alt="The cubic lies close to the sine; the loss falls quickly, then slowly"
from retrograd.extras import skip_without

with skip_without("matplotlib"):
    import matplotlib.pyplot as plt
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.5, 2.8), layout="constrained")
    left.plot(x, y, color="#000000", label="sine")
    left.plot(x, predict().detach(), "--", color="#D55E00", label="the cubic")
    left.legend()
    right.semilogy(losses, color="#0072B2")
    right.set_xlabel("step")
    right.set_ylabel("loss")
    fig.savefig("cubic.svg")

# %% [markdown]
# ## Three mistakes, and how they look
#
# **The update is remembered.** Without `no_grad`, autograd would have to remember a write over a leaf. It refuses:

# %%
try:
    a -= 0.002 * torch.ones(())
except RuntimeError as error:
    print(str(error).partition(". ")[0].rstrip("."))
#> a leaf Variable that requires grad is being used in an in-place operation

# %% [markdown]
# **The gradients are not forgotten.** They add up, and each step is larger than it should be.

# %%
for _ in range(3):
    (predict() - y).pow(2).mean().backward()
    print(f"{b.grad.item():.5f}")
b.grad = None
#> -0.01952
#> -0.03904
#> -0.05856

# %% [markdown]
# **The loss is kept.** `losses.append(loss)` keeps the graph of every step alive. Write `loss.item()`.
#
# ## The same with modules
#
# A *module* holds parameters and computes with them. Its parameters require gradients by themselves. Here the inputs
# are three powers of x, so one linear layer is the cubic.

# %%
torch.manual_seed(0)
powers = x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
loss_of = torch.nn.MSELoss()
print(model)
for name, parameter in model.named_parameters():
    print(name, tuple(parameter.shape), parameter.requires_grad)
#> Sequential(
#>   (0): Linear(in_features=3, out_features=1, bias=True)
#>   (1): Flatten(start_dim=0, end_dim=1)
#> )
#> 0.weight (1, 3) True
#> 0.bias (1,) True

# %% [markdown]
# The graph of this loss, with a frame for each module:

# %% tags=["retrograd"] alt="MseLoss leads to View, and View to the frame of the layer: Addmm, bias and weight"
from pathlib import Path
from retrograd import viz

picture = viz.svg(loss_of(model(powers), y), model)
Path("model.svg").write_text(picture, encoding="utf-8")

# %% [markdown]
# An *optimizer* does parts 3 and 4 of a step. `step()` updates, and `zero_grad()` forgets.

# %%
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for t in range(1500):
    loss = loss_of(model(powers), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if t % 500 == 499:
        print(t + 1, f"{loss.item():.4f}")
print(loss.grad_fn.name())
#> 500 0.1651
#> 1000 0.0383
#> 1500 0.0046
#> MseLossBackward0

# %% [markdown]
# ## What changes when
#
# It helps to see one step in slow motion. `backward()` fills the gradients and leaves the weights alone. `step()`
# changes the weights and leaves the gradients alone.

# %%
class TinyModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = torch.nn.Linear(100, 20)
        self.relu = torch.nn.ReLU()
        self.layer2 = torch.nn.Linear(20, 10)

    def forward(self, x):
        return self.layer2(self.relu(self.layer1(x)))

torch.manual_seed(0)
tiny = TinyModel()
inputs, ideal = torch.randn(16, 100), torch.randn(16, 10)
weight = tiny.layer2.weight
optimizer = torch.optim.SGD(tiny.parameters(), lr=0.001)

def look(when):
    slope = None if weight.grad is None else round(weight.grad[0, 0].item(), 4)
    print(f"{when:18} weight {weight[0, 0].item():.4f}   gradient {slope}")

look("at first")
(ideal - tiny(inputs)).pow(2).sum().backward()
look("after backward()")
optimizer.step()
look("after step()")
optimizer.zero_grad()
look("after zero_grad()")
#> at first           weight -0.1906   gradient None
#> after backward()   weight -0.1906   gradient -4.3702
#> after step()       weight -0.1862   gradient -4.3702
#> after zero_grad()  weight -0.1862   gradient None

# %% [markdown]
# ## Leave a part as it is
#
# A parameter that requires no gradient is a constant. Set the flag of a layer to False, and training leaves the layer
# alone. (People do this with a layer that was trained before.)

# %%
tiny.layer1.requires_grad_(False)
(ideal - tiny(inputs)).pow(2).sum().backward()
print(tiny.layer1.weight.grad is None, tiny.layer2.weight.grad is None)
#> True False

# %% [markdown]
# ## Training and measuring
#
# Some layers do one thing in training and another in use: dropout, batch normalization. `model.train()` and
# `model.eval()` switch between the two. Grad mode is another switch: under `no_grad`, no graph is made. To measure a
# model, you usually want both `eval()` and `no_grad`.

# %%
drop = torch.nn.Dropout(0.5)
torch.manual_seed(0)
print(drop(torch.ones(6)))
drop.eval()
with torch.no_grad():
    print(drop(torch.ones(6)))
#> tensor([0., 0., 2., 0., 0., 0.])
#> tensor([1., 1., 1., 1., 1., 1.])

# %% [markdown]
# ## Exercise
#
# Momentum makes steps smoother: each parameter has a velocity v. In each step, v becomes 0.9 v + gradient, and the
# parameter moves by −rate · v. Write it with tensors only, for two parameters that should reach the lowest point of
# (p₀ − 1)² + 10 (p₁ + 2)². Then compare with `torch.optim.SGD(..., momentum=0.9)`: the numbers should be equal.

# %% tags=["hide-cell"]
def bowl(p):
    return (p[0] - 1) ** 2 + 10 * (p[1] + 2) ** 2

mine = torch.zeros(2, requires_grad=True)
velocity = torch.zeros(2)
theirs = torch.zeros(2, requires_grad=True)
sgd = torch.optim.SGD([theirs], lr=0.01, momentum=0.9)
for _ in range(200):
    bowl(mine).backward()
    with torch.no_grad():
        velocity = 0.9 * velocity + mine.grad
        mine -= 0.01 * velocity
    mine.grad = None
    sgd.zero_grad()
    bowl(theirs).backward()
    sgd.step()
print(mine.detach(), torch.allclose(mine, theirs))
#> tensor([ 1.0000, -2.0000]) True

# %% [markdown]
# ## Where to read the source
#
# - `optim/optimizer.py` is what all optimizers share, and `optim/sgd.py` is the exercise.
# - `nn/modules/linear.py` is the layer, and `nn/modules/module/` finds parameters.
# - `examples/fit_by_hand.py`, `examples/fit_with_modules.py` and `examples/tiny_model.py` are whole programs.
#
# Next: [your own Function and your own operator](own_functions.py). {download}`This page as a script <training.py>`.
