"""A walk through the graph that every computation records: grad_fn, next_functions, leaves, retain_graph."""

import warnings

import torch


def print_graph(tensor: torch.Tensor) -> None:
    """Prints each node once, indented by its distance from the result. A graph may be deeper than Python's stack."""
    stack, seen = [(tensor.grad_fn, 0)], set()
    while stack:
        node, depth = stack.pop()
        if node is None:  # an input that requires no gradient
            print("  " * depth + "  (constant)")
            continue
        note = f" of shape {tuple(node.variable.shape)}" if hasattr(node, "variable") else ""
        print("  " * depth + f"  {type(node).__name__}{note}" + (" (again)" if node in seen else ""))
        if node not in seen:
            seen.add(node)
            stack.extend((below, depth + 1) for below, _ in reversed(node.next_functions))


def the_graph() -> None:
    x = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)
    shared = torch.cos(x)
    result = (shared * 3 - 2 / shared).mean()
    print("the graph of mean(3 cos x - 2 / cos x)")
    print_graph(result)
    leaf = shared.grad_fn.next_functions[0][0]
    print("  a leaf has no grad_fn:", x.grad_fn, "- its node leads back to it:", leaf.variable is x)
    print("  the end of the road:", leaf.next_functions)

    result.backward()
    sine, cosine = x.detach().sin(), x.detach().cos()
    print("  gradient:", x.grad)
    print("  by hand: ", (-3 * sine - 2 * sine / cosine**2) / 3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print("  only leaves keep theirs:", shared.grad)
    print("  and a warning says so:", caught[0].category.__name__)


def only_what_was_asked_for() -> None:
    print("\nintermediate gradients, on request")
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    root = x.sqrt()
    root.retain_grad()
    (root * torch.tensor([10.0, 20.0])).sum().backward()
    print("  d/d sqrt(x):", root.grad, " d/dx:", x.grad)


def two_losses() -> None:
    print("\ntwo losses over one trunk")
    weight = torch.tensor(1.5, requires_grad=True)
    trunk = torch.exp(weight) * weight
    near, far = (trunk - 1) ** 2, (trunk - 100) ** 2
    near.backward(retain_graph=True)  # keeps the trunk's graph for the other loss
    first = weight.grad.clone()
    far.backward()
    print(f"  first loss {first.item():.4f}, both together {weight.grad.item():.4f}")
    try:
        far.backward()
    except RuntimeError as problem:
        print("  once more:", str(problem).split(" (")[0])


def main() -> None:
    the_graph()
    only_what_was_asked_for()
    two_losses()


if __name__ == "__main__":
    main()
