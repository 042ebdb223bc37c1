"""spikingjelly: networks of spiking neurons learn through surrogate gradients, step by step and all steps at once."""

import torch
from spikingjelly.activation_based import encoding, functional, layer, neuron, surrogate
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    x = torch.rand(24, 8)
    labels = (x.mean(1) > 0.5).long()
    for kind in (neuron.IFNode, neuron.LIFNode, neuron.ParametricLIFNode, neuron.QIFNode):
        network = nn.Sequential(layer.Linear(8, 16), kind(surrogate_function=surrogate.ATan()), layer.Linear(16, 2),
                                neuron.LIFNode(tau=2.0, surrogate_function=surrogate.Sigmoid()))
        optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
        encoder, losses = encoding.PoissonEncoder(), []
        for _ in range(5):
            rate = sum(network(3 * encoder(x)) for _ in range(8)) / 8
            loss = nn.functional.mse_loss(rate, nn.functional.one_hot(labels, 2).float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            functional.reset_net(network)
            losses.append(f"{loss.item():.5f}")
        print(f"{kind.__name__:18} losses {' '.join(losses)}")

    several = nn.Sequential(layer.Conv2d(1, 4, 3), layer.BatchNorm2d(4), neuron.LIFNode(), layer.MaxPool2d(2),
                            layer.Flatten(), layer.Linear(36, 3))
    functional.set_step_mode(several, "m")
    out = several(torch.rand(5, 2, 1, 8, 8))
    out.square().sum().backward()
    print(f"{tuple(out.shape)} {out.std():.5f}, gradient {several[0].weight.grad.norm():.5f}")


if __name__ == "__main__":
    main()
