"""pyro: a coin's bias by variational inference, and the line through some points by Hamiltonian Monte Carlo."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal
from torch.distributions import constraints

torch.set_default_dtype(torch.float64)
pyro.set_rng_seed(0)
tosses = torch.tensor([1.0, 1, 1, 1, 1, 1, 0, 0, 0, 0])


def coin(tosses: torch.Tensor) -> None:
    """The bias of the coin, and the tosses."""
    bias = pyro.sample("bias", dist.Beta(10.0, 10.0))
    with pyro.plate("data", len(tosses)):
        pyro.sample("toss", dist.Bernoulli(bias), obs=tosses)


def guide(tosses: torch.Tensor) -> None:
    """A beta distribution for the bias, with two parameters to learn."""
    alpha = pyro.param("alpha", torch.tensor(15.0), constraint=constraints.positive)
    beta = pyro.param("beta", torch.tensor(15.0), constraint=constraints.positive)
    pyro.sample("bias", dist.Beta(alpha, beta))


pyro.clear_param_store()
svi = SVI(coin, guide, pyro.optim.Adam({"lr": 0.01}), loss=Trace_ELBO())
losses = [svi.step(tosses) for _ in range(200)]
alpha, beta = pyro.param("alpha").item(), pyro.param("beta").item()
print(f"coin: last losses {sum(losses[-50:]) / 50:.4f}, alpha {alpha:.3f}, beta {beta:.3f}")

x = torch.linspace(-1, 1, 20)
y = 2 * x - 0.5 + 0.2 * torch.randn(20)


def line(x: torch.Tensor, y: torch.Tensor) -> None:
    """A slope, an intercept and the noise around the line."""
    slope = pyro.sample("slope", dist.Normal(0.0, 5.0))
    intercept = pyro.sample("intercept", dist.Normal(0.0, 5.0))
    noise = pyro.sample("noise", dist.HalfCauchy(1.0))
    with pyro.plate("points", len(x)):
        pyro.sample("y", dist.Normal(slope * x + intercept, noise), obs=y)


pyro.clear_param_store()
normal = AutoNormal(line)
svi = SVI(line, normal, pyro.optim.Adam({"lr": 0.02}), loss=Trace_ELBO())
losses = [svi.step(x, y) for _ in range(200)]
print(f"line, mean field: last losses {sum(losses[-50:]) / 50:.3f}, median slope {normal.median()['slope'].item():.3f}")

chain = MCMC(NUTS(line), num_samples=20, warmup_steps=20, disable_progbar=True)
chain.run(x, y)
samples = chain.get_samples()
print("line, NUTS:", ", ".join(f"{name} {samples[name].mean().item():.3f}" for name in ("slope", "intercept", "noise")))
