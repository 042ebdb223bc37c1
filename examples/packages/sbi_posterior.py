"""sbi: infers the parameters of a simulator from its outputs, by flows, by ratios and by likelihoods."""

import tempfile
import warnings
from contextlib import chdir

import torch
from sbi.inference import NLE, NPE, NRE
from sbi.utils import BoxUniform

warnings.filterwarnings("ignore")


def simulate(parameters: torch.Tensor) -> torch.Tensor:
    """Two numbers with noise for each pair of parameters."""
    return torch.stack([parameters.sum(1), parameters[:, 0] - parameters[:, 1]], 1) + 0.1 * torch.randn_like(parameters)


def main() -> None:
    torch.manual_seed(0)
    prior = BoxUniform(-torch.ones(2), torch.ones(2))
    parameters = prior.sample((200,))
    outputs = simulate(parameters)
    seen = torch.tensor([[0.5, 0.1]])
    for kind in (NPE, NLE, NRE):
        method = kind(prior, show_progress_bars=False).append_simulations(parameters, outputs)
        method.train(training_batch_size=50, max_num_epochs=5, show_train_summary=False)
        loss = method.summary["validation_loss"][-1]
        posterior = method.build_posterior() if kind is NPE else method.build_posterior(sample_with="rejection")
        density = posterior.potential(torch.tensor([[0.3, 0.2]]), x=seen) if kind is not NPE else posterior.log_prob(
            torch.tensor([[0.3, 0.2]]), x=seen)
        print(f"{kind.__name__}: loss {loss:.4f}, log density {density.item():.1f}")
        if kind is NPE:
            samples = posterior.sample((200,), x=seen, show_progress_bars=False)
            print("mean", [round(m, 3) for m in samples.mean(0).tolist()], f"deviation {samples.std():.3f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # the package writes its logs beside the program
        main()
