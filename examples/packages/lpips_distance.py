"""lpips: distances of pictures by the features of three networks, and a picture that is moved to another."""

import torch
import vision  # noqa: F401

# isort: split
import lpips

torch.manual_seed(1)
first, second = torch.rand(2, 3, 64, 64) * 2 - 1, torch.rand(2, 3, 64, 64) * 2 - 1
for net in ("alex", "squeeze", "vgg"):
    torch.manual_seed(2)
    distance = lpips.LPIPS(net=net, pretrained=False, pnet_rand=True, verbose=False).eval()
    for layer in distance.lins:
        torch.nn.init.uniform_(layer.model[-1].weight, 0, 1)
    print(net, [f"{value:.5f}" for value in distance(first, second).flatten().tolist()],
          f"{distance(first, first).sum().item():.5f}")

torch.manual_seed(3)
distance = lpips.LPIPS(net="alex", pretrained=False, pnet_rand=True, verbose=False).eval()
for layer in distance.lins:
    torch.nn.init.uniform_(layer.model[-1].weight, 0, 1)
picture = first.clone().requires_grad_()
optimizer = torch.optim.Adam([picture], lr=0.05)
for step in range(5):
    optimizer.zero_grad()
    loss = distance(picture, second).mean()
    loss.backward()
    optimizer.step()
    print(f"step {step}: {loss.item():.5f}")
