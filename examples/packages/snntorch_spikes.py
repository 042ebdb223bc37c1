"""snntorch: networks of leaky, synaptic and recurrent neurons learn classes of pictures from trains of spikes."""

import io

import snntorch
import torch
from snntorch import functional, spikegen, surrogate, utils
from torch import nn


class Network(nn.Module):
    """Two layers of spiking neurons; the second one learns its decay and its threshold."""

    def __init__(self, hidden: nn.Module) -> None:
        super().__init__()
        self.first, self.hidden, self.second = nn.Linear(6, 12), hidden, nn.Linear(12, 3)
        self.last = snntorch.Leaky(beta=0.8, init_hidden=True, output=True, learn_beta=True, learn_threshold=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        utils.reset(self)
        return torch.stack([self.last(self.second(self.hidden(self.first(step))))[0] for step in x])


def main() -> None:
    torch.manual_seed(5)
    classes = torch.arange(30) % 3
    pictures = (0.2 + 0.6 * torch.eye(3).repeat_interleave(2, 1)[classes] + 0.1 * torch.rand(30, 6)).clamp(0, 1)
    spikes = spikegen.rate(pictures, num_steps=12)
    print(tuple(spikes.shape), int(spikes.sum()), spikegen.latency(pictures[0], num_steps=6).argmax(0).tolist())
    for name, hidden in (
        ("leaky", snntorch.Leaky(beta=0.9, init_hidden=True, spike_grad=surrogate.atan())),
        ("zero", snntorch.Leaky(beta=0.9, init_hidden=True, reset_mechanism="zero", inhibition=True)),
        ("synaptic", snntorch.Synaptic(alpha=0.8, beta=0.9, init_hidden=True, spike_grad=surrogate.fast_sigmoid())),
        ("alpha", snntorch.Alpha(alpha=0.9, beta=0.8, init_hidden=True, spike_grad=surrogate.triangular())),
        ("recurrent", snntorch.RLeaky(beta=0.9, init_hidden=True, linear_features=12)),
    ):
        torch.manual_seed(6)
        network, count = Network(hidden), functional.mse_count_loss(correct_rate=0.8, incorrect_rate=0.2)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.02)
        for _ in range(8):
            loss = count(network(spikes), classes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right = functional.accuracy_rate(network(spikes), classes)
        print(f"{name:10} loss {loss.item():.5f}, right {right:.4f}, beta {network.last.beta.item():.5f}")
    memory = io.BytesIO()
    torch.save(network.state_dict(), memory)
    memory.seek(0)
    print(network.load_state_dict(torch.load(memory)))


if __name__ == "__main__":
    main()
