"""A program that trains and writes in several processes, to compare retrograd with PyTorch."""

import os
import signal
import sys
import warnings

import torch
import torch.multiprocessing as mp

warnings.simplefilter("ignore")


def add(number, x, queue, received):
    """Write to a shared tensor, and send a sum."""
    x += number
    queue.put(x.sum().item())
    received.wait()


def echo(number, x, queue, received):
    """Write to a shared tensor, and send the tensor. PyTorch needs the process until the tensor has been received."""
    x *= number
    queue.put(x)
    received.wait()


def train(rank, model, steps):
    """Train a shared model together with other processes."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        (model(torch.ones(4, 2)) - rank).pow(2).mean().backward()
        optimizer.step()


def fail(number):
    """Raise an error."""
    raise ValueError(f"process {number} does not work")


def leave(number):
    """End with an exit code."""
    sys.exit(3 + number)


def die(number):
    """End by a signal."""
    os.kill(os.getpid(), signal.SIGKILL)


def say(number, *words):
    """Print the arguments."""
    print("process", number, *words, flush=True)


def show_failure(function, **options):
    """Print how a process failed."""
    try:
        mp.spawn(function, **options)
    except Exception as error:
        lines = str(error).splitlines()
        print(type(error).__name__, lines[0] or lines[2], lines[-1], error.error_index,
              getattr(error, "exit_code", None), getattr(error, "signal_name", None))


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue = context.Queue()
    x = torch.ones(3)
    print(x.is_shared(), x.share_memory_() is x, x.is_shared(), x[1:].is_shared(), x.clone().is_shared())
    for function in (add, echo):
        received = context.Event()
        process = context.Process(target=function, args=(2, x, queue, received))
        process.start()
        print(queue.get())
        received.set()
        process.join()
        print(x, process.exitcode)
    y = torch.arange(6.)[2:4]
    process = context.Process(target=add, args=(5, y, queue, received))
    process.start()
    print(queue.get(), y.is_shared())
    process.join()
    print(y, y.storage_offset())
    for function in (fail, leave, die):
        show_failure(function)
    started = mp.spawn(say, args=(1, "a"), join=False)
    print(type(started).__name__, len(started.pids()))
    while not started.join():
        pass
    mp.start_processes(say, args=(2,), start_method="fork")
    model = torch.nn.Linear(2, 1)
    for parameter in model.parameters():
        parameter.share_memory_()
    mp.spawn(train, args=(model, 300), nprocs=2)
    print(0 <= model(torch.ones(1, 2)).item() <= 1, model.weight.is_shared())
    pipe, rows = mp.SimpleQueue(), torch.arange(6.).view(2, 3)
    for sent in (rows[0], rows, rows.t(), rows.t()[1:], rows[0].expand(2, 3), rows[:, ::2],
                 torch.nn.Parameter(rows.t()), rows.bfloat16().t().share_memory_()):
        pipe.put(sent)
        received = pipe.get()
        print(received, received.stride(), received.detach().clone().add_(1))
        print(received @ sent.t())
    print(mp.get_sharing_strategy(), sorted(mp.get_all_sharing_strategies()), mp.get_start_method())
    for strategy in ("other", "file_system"):
        try:
            mp.set_sharing_strategy(strategy)
        except AssertionError as error:
            print(str(error).partition(",")[0])
    try:
        context.Process(target=say, args=(torch.ones(1, requires_grad=True) * 2,)).start()
    except RuntimeError as error:
        print(error)
