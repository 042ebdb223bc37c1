"""kornia: filters, colors, warps and edges of pictures with gradients; a shift is found by descent."""

import kornia
import torch

torch.manual_seed(0)
picture = torch.rand(1, 3, 16, 16)


def show(name: str, result: torch.Tensor) -> None:
    """The shape and the mean of a result."""
    print(f"{name}: {tuple(result.shape)}, mean {result.mean().item():.4f}")


grey = kornia.color.rgb_to_grayscale(picture)
show("grey", grey)
show("hsv", kornia.color.rgb_to_hsv(picture))
show("Lab", kornia.color.rgb_to_lab(picture))
show("Gaussian blur", kornia.filters.gaussian_blur2d(picture, (5, 5), (1.5, 1.5)))
show("median blur", kornia.filters.median_blur(picture, (3, 3)))
show("Sobel", kornia.filters.sobel(grey))
show("Canny", kornia.filters.canny(grey)[0])
show("dilation", kornia.morphology.dilation(grey, torch.ones(3, 3)))
show("rotation", kornia.geometry.rotate(picture, torch.tensor([30.0])))
show("resize", kornia.geometry.resize(picture, (8, 12)))
show("structural similarity", kornia.metrics.ssim(picture, picture.flip(-1), 5))
show("quaternions", kornia.geometry.conversions.axis_angle_to_rotation_matrix(torch.tensor([[0.1, 0.2, 0.3]])))
smooth = kornia.filters.gaussian_blur2d(grey, (9, 9), (2.0, 2.0))
target = kornia.geometry.translate(smooth, torch.tensor([[1.5, -1.0]]))
shift = torch.zeros(1, 2, requires_grad=True)
optimizer = torch.optim.Adam([shift], lr=0.1)
for _ in range(60):
    loss = (kornia.geometry.translate(smooth, shift) - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"shift found: {[round(s, 2) for s in shift.tolist()[0]]}, loss {loss.item():.5f}")
