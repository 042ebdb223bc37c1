"""A program as PyTorch's tutorials have it: `spawn` starts processes, which train one model together.

The arguments are the number of processes, what the second of them does in place of training, and the port. Each
process tells its numbers, in the order of their ranks.
"""

import datetime
import os
import signal
import sys
import warnings

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

warnings.simplefilter("ignore")


def setup(rank, world_size, port):
    """Join the group."""
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = port
    dist.init_process_group("gloo", rank=rank, world_size=world_size, timeout=datetime.timedelta(seconds=60))


def demo(rank, world_size, fault, port):
    """Train, and tell the losses and the sum of the weights."""
    if fault == "absent" and rank == 1:
        return
    setup(rank, world_size, port)
    torch.manual_seed(rank)                                # the wrapper gives all processes the weights of the first
    model = DistributedDataParallel(torch.nn.Linear(4, 2))
    if rank == 1:
        match fault:
            case "exits":
                os._exit(0)
            case "raises":
                raise ValueError("bad data")
            case "is killed":
                os.kill(os.getpid(), signal.SIGKILL)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(3):
        optimizer.zero_grad()
        loss = model(torch.arange(8.0).view(2, 4) * (rank + step) / 8).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.3f}")
    weights = f"{sum([parameter.sum().item() for parameter in model.parameters()]):.3f}"
    for turn in range(world_size):
        if turn == rank:
            print(rank, *losses, weights, flush=True)
        dist.barrier()
    dist.destroy_process_group()
    if fault == "exits at the end" and rank == 1:
        os._exit(0)


if __name__ == "__main__":
    count = int(sys.argv[1])
    try:
        mp.spawn(demo, args=(count, *sys.argv[2:]), nprocs=count)
    except Exception as error:
        print(type(error).__name__, str(error).strip().splitlines()[-1])
