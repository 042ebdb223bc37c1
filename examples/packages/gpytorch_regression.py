"""gpytorch: an exact Gaussian process learns a sine wave by its marginal likelihood, then predicts with error bars."""

import gpytorch
import torch


class SineProcess(gpytorch.models.ExactGP):
    """A constant mean and a scaled radial basis kernel."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor, likelihood: gpytorch.likelihoods.GaussianLikelihood) -> None:
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


torch.manual_seed(0)
x = torch.linspace(0, 1, 40)
y = torch.sin(6 * x) + 0.1 * torch.randn(40)
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = SineProcess(x, y, likelihood)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

model.train()
likelihood.train()
for step in range(60):
    optimizer.zero_grad()
    loss = -objective(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
print(f"lengthscale {model.covar_module.base_kernel.lengthscale.item():.3f}, noise {likelihood.noise.item():.4f}")

model.eval()
likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    prediction = likelihood(model(torch.tensor([0.1, 0.5, 1.2])))
    lower, upper = prediction.confidence_region()
for mean, low, high in zip(prediction.mean, lower, upper):
    print(f"mean {mean.item():.3f} in [{low.item():.3f}, {high.item():.3f}]")
