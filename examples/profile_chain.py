"""The times of operations: torch.autograd.profiler over a chain of a thousand divisions and multiplications."""

import torch
from torch.autograd import profiler

LINKS = 500


def main() -> None:
    torch.manual_seed(1)
    use_cuda = torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    below = 1 + 0.01 * torch.rand(3, 4, device=device)
    above = 1 + 0.01 * torch.rand(3, 4, device=device)
    below.requires_grad_()
    above.requires_grad_()
    start = torch.ones(3, 4, device=device, requires_grad=True)

    with profiler.profile(use_cuda=use_cuda) as forward:
        end = start
        for _ in range(LINKS):
            end = (end / below) * above
    print(forward.key_averages().table(sort_by="self_cpu_time_total"))

    with profiler.profile(use_cuda=use_cuda) as backward:
        end.sum().backward()
    counts = {event.key: event.count for event in backward.key_averages()}
    for node in ("DivBackward0", "MulBackward0", "SumBackward0"):
        print(f"{node} ran {counts[node]} times")

    # The chain computes start * (above / below) ** LINKS, so the derivatives are known.
    factor = (above / below).detach() ** LINKS
    print("gradient of the start is as it should be:", torch.allclose(start.grad, factor, rtol=1e-3))
    print("and that of what multiplies:", torch.allclose(above.grad, LINKS * factor / above.detach(), rtol=1e-3))


if __name__ == "__main__":
    main()
