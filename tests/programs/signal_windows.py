"""A program that computes all windows of torch.signal, to compare retrograd with PyTorch."""

import torch
import torch.signal.windows as windows


def show(name, *args, **options):
    """Print the window, or the error."""
    try:
        print(name, args, options, getattr(windows, name)(*args, **options))
    except Exception as error:
        print(name, args, options, type(error).__name__, error)


def backward_names(x):
    """The names of the nodes along the first edges."""
    node = x.grad_fn
    while node is not None:
        yield type(node).__name__
        node = next((before for before, _ in node.next_functions if before is not None), None)


for name in windows.__all__:
    needed = {"a": [0.3, 0.4, 0.2]} if name == "general_cosine" else {}
    print(*backward_names(getattr(windows, name)(1, requires_grad=True, **needed)))
    for length in (0, 1, 2, 5, 8, -1, "a"):
        show(name, length, **needed)
        show(name, length, sym=False, **needed)
    for dtype in (torch.float64, torch.float16, torch.int64, torch.complex64):
        show(name, 4, dtype=dtype, requires_grad=True, device="cpu", layout=torch.strided, **needed)
    print(*backward_names(getattr(windows, name)(5, requires_grad=True, **needed)))
for tau in (0, -1.0, 2.5):
    show("exponential", 5, tau=tau)
show("exponential", 5, center=1)
show("exponential", 5, center=1, sym=False)
for std in (0, -1, 2.0):
    show("gaussian", 5, std=std)
for coefficients in ([], 3, [1], (0.5, 0.5)):
    show("general_cosine", 5, a=coefficients)
show("general_cosine", 5)
show("general_hamming", 5, alpha=0.3)
for beta in (-1, 0, 3.0):
    show("kaiser", 5, beta=beta)
torch.set_default_dtype(torch.float64)
show("hann", 5)
show("exponential", 1, center=1., sym=False)
show("gaussian", 1, std=float("nan"))
