# %% [markdown]
# # Read a paper's gradient
#
# **You will learn** to check a formula for a gradient that you find in a paper: write it by hand, let autograd find it,
# compare the two, and let finite differences decide.
#
# Three examples come from physics, statistics and machine learning. In each one, papers write derivatives as formulas,
# and a wrong sign in a program goes unnoticed for days.

# %%
import math
import retrograd as torch

torch.manual_seed(0)
DIGITS = {"dtype": torch.float64}               # differences need the digits

def agree(name, by_hand, by_autograd):
    print(f"{name}: {torch.allclose(by_hand, by_autograd)}")

# %% [markdown]
# ## A network that obeys an equation
#
# A *physics-informed network* learns a function u(x) from an equation alone, here from u″ + u = 0 with u(0) = 0 and
# u′(0) = 1. The solution is sin(x). The loss is the square of what is left of the equation, at many points. So the loss
# contains a second derivative of the network, and training needs the gradient of that.
#
# ### By hand
#
# One hidden layer is u(x) = Σ aᵢ tanh(wᵢx + bᵢ). The derivatives of tanh are 1 − t² and −2t(1 − t²), where t is the
# tanh itself. Each derivative by x brings a factor wᵢ. So
#
# > u″ = Σ aᵢ wᵢ² (−2 tᵢ (1 − tᵢ²)).

# %%
x = torch.linspace(0., 3., 30, **DIGITS)[:, None]
net = [torch.randn(12, requires_grad=True, **DIGITS) for _ in range(3)]

def u(x, w, b, a):
    return (a * torch.tanh(w * x + b)).sum(-1, keepdim=True)

def second_by_hand(x, w, b, a):
    t = torch.tanh(w * x + b)
    return (a * w ** 2 * (-2 * t * (1 - t ** 2))).sum(-1, keepdim=True)

# %% [markdown]
# ### By autograd
#
# u at a point depends on the x of this point alone. So the gradient of the *sum* of all u is u′ at every point.
# `create_graph=True` records this gradient, so that it has a gradient, too.

# %%
def slopes(x, *net):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(u(x, *net).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    return first, second

agree("u''", second_by_hand(x, *net), slopes(x, *net)[1])
#> u'': True

# %% [markdown]
# ### The gradient of the loss
#
# The rest r = u″ + u is linear in a: r = Φa. So the gradient of mean(r²) by a is (2/n) Φᵀr. The formula for w is
# longer, and papers leave it out. Autograd finds both.

# %%
def loss_of(*net):
    return (slopes(x, *net)[1] + u(x, *net)).square().mean()

w, b, a = net
t = torch.tanh(w * x + b)
phi = (w ** 2 * (-2 * t * (1 - t ** 2)) + t).detach()
r = phi @ a.detach()
by_hand = 2 / len(x) * phi.t() @ r

by_w, by_b, by_a = torch.autograd.grad(loss_of(*net), net)
agree("by a", by_hand, by_a)
#> by a: True

# %% [markdown]
# For the other two gradients there is no formula to compare with. Finite differences decide: move one weight a little,
# and see how the loss changes. `gradcheck` does this for every weight.

# %%
print("by all weights:", torch.autograd.gradcheck(loss_of, net))
#> by all weights: True

# %% [markdown]
# Now the gradient can be trusted, and the network may learn.

# %%
optimizer = torch.optim.Adam(net, lr=0.02)
origin = torch.zeros(1, 1, **DIGITS)
for _ in range(600):
    start = u(origin, *net).square() + (slopes(origin, *net)[0] - 1).square()
    loss = loss_of(*net) + start.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("everywhere near sin(x):", torch.allclose(u(x, *net), torch.sin(x), atol=0.02))
#> everywhere near sin(x): True

# %% [markdown]
# ## A Gaussian process
#
# A Gaussian process says how likely some data y are, given how far a point influences its neighbors. The *log marginal
# likelihood* of the data is
#
# > L = −½ yᵀ K⁻¹ y − ½ log det K − ½ n log 2π,
#
# where K has exp(−d²/2ℓ²) for each pair of points with the distance d, and the variance of the noise on its diagonal.
# Textbooks give the gradient by a parameter θ of K as
#
# > ∂L/∂θ = ½ tr((ααᵀ − K⁻¹) ∂K/∂θ), with α = K⁻¹ y.

# %%
at = torch.linspace(0., 5., 12, **DIGITS)
y = torch.sin(at) + 0.1 * torch.randn(12, **DIGITS)
squares = (at[:, None] - at[None, :]).square()

def kernel(length, noise):
    return torch.exp(-0.5 * squares / length ** 2) + noise * torch.eye(12, **DIGITS)

def likelihood(length, noise):
    factor = torch.linalg.cholesky(kernel(length, noise))
    alpha = torch.cholesky_solve(y[:, None], factor)
    return (-0.5 * y @ alpha[:, 0] - factor.diagonal().log().sum()
            - 6 * math.log(2 * math.pi))

length = torch.tensor(0.8, requires_grad=True, **DIGITS)
noise = torch.tensor(0.05, requires_grad=True, **DIGITS)
by_length, by_noise = torch.autograd.grad(likelihood(length, noise), [length, noise])

# %% [markdown]
# By hand, ∂K/∂ℓ is exp(−d²/2ℓ²) d²/ℓ³. Autograd has not used this formula. It went backward through a Cholesky
# factorization.

# %%
with torch.no_grad():
    K = kernel(length, noise)
    inverse = torch.linalg.inv(K)
    alpha = inverse @ y
    by_K = 0.5 * (torch.outer(alpha, alpha) - inverse)
    of_length = torch.exp(-0.5 * squares / length ** 2) * squares / length ** 3
    agree("by the length", torch.trace(by_K @ of_length), by_length)
print("differences:", torch.autograd.gradcheck(likelihood, (length, noise)))
#> by the length: True
#> differences: True

# %% [markdown]
# ## A normalizing flow
#
# A *flow* bends a simple distribution into another. If z is normal and x = f(z), the density of x needs the determinant
# of the Jacobian of f. The *planar* flow is f(z) = z + u tanh(w·z + b). Its paper says that the determinant costs no
# more than a dot product:
#
# > det ∂f/∂z = 1 + u·ψ(z), with ψ(z) = (1 − tanh²(w·z + b)) w.
#
# Is that so? Ask for the whole Jacobian, for a batch of points.

# %%
uu = torch.tensor([0.5, -0.3, 0.8], **DIGITS)
ww = torch.tensor([1., 0.4, -0.2], **DIGITS)
points = torch.randn(6, 3, **DIGITS)

def flow(z, uu):
    return z + uu * torch.tanh(ww @ z + 0.1)

def logdet_of_paper(z, uu):
    psi = (1 - torch.tanh(ww @ z + 0.1) ** 2) * ww
    return torch.log(torch.abs(1 + uu @ psi))

jacobians = torch.vmap(torch.func.jacrev(flow), (0, None))(points, uu)
print(tuple(jacobians.shape))
agree("log det", torch.vmap(logdet_of_paper, (0, None))(points, uu),
      torch.linalg.slogdet(jacobians)[1])
#> (6, 3, 3)
#> log det: True

# %% [markdown]
# To train the flow, you need the gradient of the log-determinant by u. By hand it is ψ / (1 + u·ψ). Autograd may take
# the short way through the paper's formula, or the long way through the Jacobian and its determinant. All three agree.

# %%
def long_way(uu):
    return sum(torch.linalg.slogdet(torch.func.jacrev(flow)(z, uu))[1] for z in points)

def short_way(uu):
    return sum(logdet_of_paper(z, uu) for z in points)

psi = (1 - torch.tanh(points @ ww + 0.1) ** 2)[:, None] * ww
by_hand = (psi / (1 + psi @ uu)[:, None]).sum(0)
agree("short way", by_hand, torch.func.grad(short_way)(uu))
agree("long way", by_hand, torch.func.grad(long_way)(uu))
#> short way: True
#> long way: True

# %% [markdown]
# ## How to read the next paper
#
# 1. Write the *value* as the paper defines it, not as it simplifies it. This is the program that you trust.
# 2. Let autograd differentiate the value. Compare with the formula of the paper, in `float64`, at random points.
# 3. If the two differ, ask `gradcheck` which one is wrong. It compares with the value alone.
# 4. Then use what is faster. A formula by hand belongs into a [`Function`](own_functions.py).
#
# ## Exercise
#
# A paper writes the gradient of the likelihood by the *noise* as ½ (αᵀα + tr K⁻¹). Is the sign right?

# %% tags=["hide-cell"]
with torch.no_grad():
    agree("as the paper says", 0.5 * (alpha @ alpha + torch.trace(inverse)), by_noise)
    agree("with a minus", 0.5 * (alpha @ alpha - torch.trace(inverse)), by_noise)
#> as the paper says: False
#> with a minus: True

# %% [markdown]
# The derivative of K by the noise is the identity. So the trace in the formula is that of ααᵀ − K⁻¹ itself.
#
# ## Where to read the source
#
# - `ops/linalg/` has the rule of the Cholesky factorization and of the determinant.
# - `autograd/gradcheck.py` compares with differences.
# - [Recipes](../use/recipes.md) has these models at full length.
#
# Next: [reading the source in an afternoon](reading.py). {download}`This page as a script <papers.py>`.
