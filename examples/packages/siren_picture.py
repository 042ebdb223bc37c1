"""siren-pytorch: learns a small picture as a function of the place, by a network of sines."""

import torch
from siren_pytorch import SirenNet, SirenWrapper


def main() -> None:
    torch.manual_seed(10)
    axis = torch.linspace(-1, 1, 12)
    picture = torch.stack([torch.sin(3 * axis[:, None] + c * axis) for c in range(3)])[None] / 2 + 0.5
    network = SirenNet(dim_in=2, dim_hidden=24, dim_out=3, num_layers=3, w0_initial=20.0)
    wrapper = SirenWrapper(network, image_width=12, image_height=12)
    optimizer = torch.optim.Adam(wrapper.parameters(), lr=2e-3)
    for step in range(61):
        loss = wrapper(picture)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:2d}   loss {loss.item():.6f}")
    drawn = wrapper()
    print(tuple(drawn.shape), f"mean {drawn.mean().item():.5f}, error {(drawn - picture).abs().max().item():.5f}")


if __name__ == "__main__":
    main()
