"""A damped wave and its slope, which autograd computes.

With the argument --plot, the program draws both with matplotlib into wave.png in the current directory.
"""

import math
import sys

import torch


def draw(x: torch.Tensor, wave: torch.Tensor, slope: torch.Tensor, file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")  # draws into a file, without a screen
    from matplotlib import pyplot as plt

    # A tensor that requires grad cannot become an array, because its history would be lost silently.
    figure, axes = plt.subplots()
    axes.plot(x.detach(), wave.detach(), label="sin(x) exp(-x / 4)")
    axes.plot(x.detach(), slope, label="its slope")
    axes.axhline(0, color="grey", linewidth=0.5)
    axes.set_xlabel("x")
    axes.legend()
    figure.savefig(file)
    plt.close(figure)


def main() -> None:
    x = torch.linspace(0.0, 3 * math.pi, steps=31, requires_grad=True)
    decay = torch.exp(-x / 4)
    wave = torch.sin(x) * decay
    total = (2 * wave + 1).sum()  # backward() starts at one number; its slope is twice the slope of the wave
    total.backward()
    slope = x.grad / 2

    print(x)
    print(wave)
    print("sum:", total)
    print("slope:", slope)
    by_hand = (torch.cos(x) - torch.sin(x) / 4) * decay
    print("equal to the formula:", torch.allclose(slope, by_hand, atol=1e-6))
    top = int(wave.argmax())
    print(f"highest near x = {x[top].item():.3f}; the slope is zero at {math.atan(4):.3f}")
    print("grad of what lies in between:", wave.is_leaf, "leaf, grad_fn", wave.grad_fn.name())

    if "--plot" in sys.argv[1:]:
        try:
            draw(x, wave, slope, "wave.png")
            print("drawn: wave.png")
        except ModuleNotFoundError as error:
            print(f"not drawn, since there is no {error.name}: pip install matplotlib")


if __name__ == "__main__":
    main()
