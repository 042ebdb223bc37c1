"""In-place operations: which changes are allowed, and how autograd catches a change that makes a gradient wrong."""

from collections.abc import Callable

import torch


def leaf() -> None:
    x = torch.ones(3, requires_grad=True)
    x.mul_(2)


def view_of_a_leaf() -> None:
    x = torch.ones(3, requires_grad=True)
    x[1:].zero_()


def needed_later() -> None:
    x = torch.tensor([0.1, 0.2], requires_grad=True)
    y = x.exp()  # exp is its own derivative, so the backward pass needs y
    y += 1
    y.sum().backward()


def changed_through_a_detached_twin() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    x.detach().zero_()  # the result shares the memory, so it shares the version
    y.sum().backward()


def second_backward() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**4
    y.backward()
    y.backward()


def no_such_shape() -> None:
    x = torch.zeros(2)
    x += torch.ones(2, 2)


def allowed() -> None:
    print("allowed")
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 10  # the derivative is 10 for every y
    y.add_(5)
    print("  after add_:", y, "version", y._version)
    y[0] = 0  # the old y[0] has no effect on the result any more
    print("  after y[0] = 0:", y)
    y.sum().backward()
    print("  gradient:", x.grad)
    with torch.no_grad():
        x -= 0.1 * x.grad  # this is how to update: the write is not recorded, and the leaf stays a leaf
    print("  updated:", x, "leaf:", x.is_leaf)


def refused(attempts: list[Callable[[], None]]) -> None:
    print("\nrefused")
    for attempt in attempts:
        try:
            attempt()
        except RuntimeError as problem:
            sentence = str(problem).splitlines()[0].split(". ")[0].split(" (")[0].rstrip(".")
            print(f"  {attempt.__name__}: {sentence}")


def main() -> None:
    allowed()
    refused([leaf, view_of_a_leaf, needed_later, changed_through_a_detached_twin, second_backward, no_such_shape])


if __name__ == "__main__":
    main()
