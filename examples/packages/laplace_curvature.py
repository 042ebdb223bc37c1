"""laplace: error bars of a trained network from the curvature of its loss."""

import warnings

import torch
from laplace import Laplace
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


def main() -> None:
    torch.manual_seed(0)
    x = torch.rand(60, 1) * 4 - 2
    data = DataLoader(TensorDataset(x, torch.sin(2 * x) + 0.1 * torch.randn_like(x)), batch_size=20)
    model = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(30):
        for inputs, targets in data:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.5f}")

    places = torch.tensor([[-3.0], [0.0], [3.0]])
    for weights, structure in (("all", "full"), ("all", "diag"), ("all", "kron"), ("last_layer", "full")):
        laplace = Laplace(model, "regression", subset_of_weights=weights, hessian_structure=structure)
        laplace.fit(data)
        laplace.optimize_prior_precision(pred_type="glm", method="marglik", n_steps=5)
        mean, variance = laplace(places)
        print(f"{weights}, {structure}: evidence {laplace.log_marginal_likelihood().item():.3f}, "
              f"deviations {[round(v, 4) for v in variance.flatten().sqrt().tolist()]}, mean {mean.mean().item():.4f}")


if __name__ == "__main__":
    main()
