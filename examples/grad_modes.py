"""Switching recording off and on: requires_grad, no_grad, enable_grad, detach."""

import torch


def area(width: torch.Tensor, height: torch.Tensor) -> torch.Tensor:
    return width * height


@torch.no_grad()
def area_unrecorded(width: torch.Tensor, height: torch.Tensor) -> torch.Tensor:
    return width * height


@torch.enable_grad()
def area_always_recorded(width: torch.Tensor, height: torch.Tensor) -> torch.Tensor:
    return width * height


def the_flag() -> None:
    print("the flag of a leaf")
    a = torch.full((2, 2), 1.5, requires_grad=True)
    print(a)
    print(a - 4)
    a.requires_grad = False
    print(a - 4)
    print("switched on again:", (a.requires_grad_() - 4).requires_grad)
    try:
        (a - 4).requires_grad = False
    except RuntimeError as problem:
        print("not on a result:", str(problem).split(".")[0])


def blocks_and_decorators() -> None:
    print("\nblocks and decorators")
    w = torch.full((3,), 2.0, requires_grad=True) * 3
    h = torch.full((3,), 5.0, requires_grad=True) / 2
    print("recorded:   ", area(w, h))
    with torch.no_grad():
        print("in a block: ", area(w, h), "- recording is on:", torch.is_grad_enabled())
        print("on inside:  ", area_always_recorded(w, h))
        with torch.enable_grad():
            print("nested:     ", area(w, h))
    print("decorated:  ", area_unrecorded(w, h))
    for training in (False, True):
        with torch.set_grad_enabled(training):
            print(f"training is {training}: requires_grad is {area(w, h).requires_grad}")


def detached() -> None:
    print("\ndetach")
    torch.manual_seed(5)
    x = torch.rand(4, requires_grad=True)
    y = x.detach()
    print(x)
    print(y)
    y[0] = 0  # y shares the memory of x: detach() copies nothing
    print("the first of x is now", x[0].item())
    try:
        x.numpy()
    except RuntimeError as problem:
        print("for NumPy:", str(problem).split(".")[0])
    print("for NumPy, detached:", x.detach().numpy().round(3))

    # Stop the gradient on one of two paths. d/dt of t * constant(t) is t, and d/dt of t * t is 2t.
    t = torch.tensor(3.0, requires_grad=True)
    (t * t.detach()).backward()
    print("one path of t * t:", t.grad)


def main() -> None:
    the_flag()
    blocks_and_decorators()
    detached()


if __name__ == "__main__":
    main()
