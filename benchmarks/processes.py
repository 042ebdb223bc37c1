"""Speed of several processes: `python -m benchmarks.processes` measures, and prints the model of `scaling` beside it.

It starts itself with 1, 2 and 4 processes. Messages and sums of mpi4py give the parameters of the model. They take
turns with retrograd's, and the least time of many counts, so that other load on the machine matters little.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import scaling

LARGE = 64 * 1024 * 1024
ROUNDS = 9
CLUSTER = scaling.Link(2e-6, 1 / 12e9, 1 / 8e9)            # a network of 100 Gbit/s


def timed(call: Callable[[], Any], calls: int, ready: Callable[[], Any]) -> float:
    """The seconds of one call, after all processes are ready."""
    ready()
    start = perf_counter()
    for _ in range(calls):
        call()
    return (perf_counter() - start) / calls


def messages(comm: Any) -> dict[str, float]:
    """The latency of mpi4py's messages, the seconds per byte while all processes send, and those of sums.

    The latency is half a ping-pong of processes 0 and 1. Large arrays go around a ring, so that both directions of each
    link are in use, as in an all-reduce.
    """
    def there_and_back(array: Any) -> None:
        if comm.rank == 0:
            comm.Send(array, 1)
            comm.Recv(array, 1)
        elif comm.rank == 1:
            comm.Recv(array, 0)
            comm.Send(array, 0)

    def around() -> None:
        comm.Sendrecv(large, (comm.rank + 1) % comm.size, recvbuf=into, source=(comm.rank - 1) % comm.size)

    small, large = np.zeros(1, np.uint8), np.zeros(LARGE // 2, np.uint8)
    into = large.copy()
    short = min([timed(lambda: there_and_back(small), 20, comm.Barrier) for _ in range(10 * ROUNDS)]) / 2
    long = min([timed(around, 1, comm.Barrier) for _ in range(ROUNDS)])
    one, other = large.view(np.float32), into.view(np.float32)
    add = min([timed(lambda: np.add(one, other, out=other), 1, comm.Barrier) for _ in range(ROUNDS)])
    return {"latency": short, "byte": (long - short) / large.size, "add": add / large.size}


def sums(torch: Any, comm: Any, mpi: Any) -> dict[str, float]:
    """All-reduces of 64 MB and of one number, of mpi4py and of retrograd in turns."""
    found: dict[str, list[float]] = {}
    for name, count, calls in (("large", LARGE // 4, 1), ("small", 1, 10)):
        array, tensor = np.zeros(count, np.float32), torch.zeros(count)
        ways = {"mpi4py": lambda a=array: comm.Allreduce(mpi.IN_PLACE, a, mpi.SUM),
                "retrograd": lambda t=tensor: torch.distributed.all_reduce(t)}
        for _ in range(ROUNDS if calls == 1 else 10 * ROUNDS):
            for who, way in ways.items():
                found.setdefault(f"{name} {who}", []).append(timed(way, calls, comm.Barrier))
    return {name: min(times) for name, times in found.items()}


def training(torch: Any, ready: Callable[[], Any]) -> dict[str, float]:
    """A step of a network for digits, plain and as a parallel module, in turns."""
    nn = torch.nn
    x, y = torch.randn(32, 64), torch.randint(10, (32,))

    def steps(parallel: bool) -> Callable[[], None]:
        model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
        used = nn.parallel.DistributedDataParallel(model) if parallel else model
        optimizer = torch.optim.Adam(used.parameters(), lr=1e-6)

        def step() -> None:
            optimizer.zero_grad()
            nn.functional.cross_entropy(used(x), y).backward()
            optimizer.step()

        return step

    ways = {"plain": steps(False), "parallel": steps(True)}
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(30 * ROUNDS):
        for name, way in ways.items():
            found[name].append(timed(way, 3, ready))
    return {name: min(times) for name, times in found.items()}


def measure() -> None:
    """What each process does. Process 0 prints the result."""
    from mpi4py import MPI

    import retrograd as torch

    warnings.simplefilter("ignore")
    torch.distributed.init_process_group("mpi")
    comm = MPI.COMM_WORLD.Dup()
    found: dict[str, Any] = {"training": training(torch, torch.distributed.barrier)}
    if comm.size > 1:
        found |= {"messages": messages(comm), "sums": sums(torch, comm, MPI)}
    if comm.rank == 0:
        print(json.dumps(found))
    torch.distributed.destroy_process_group()


def report(found: dict[int, Any]) -> str:
    """The figures, and what the model says beside them."""
    alone = found[1]["training"]
    lines = [f"a step of the digits network, 1 process: parallel / plain = {alone['parallel'] / alone['plain']:.3f}"]
    link = scaling.Link(**found[2]["messages"])
    lines.append(f"messages, 2 processes: latency {link.latency * 1e6:.2f} us, {1e-9 / link.byte:.1f} GB/s; "
                 f"sums at {1e-9 / link.add:.1f} GB/s")
    shared = scaling.fitted(link, found[2]["sums"]["large mpi4py"], LARGE)
    for count in (2, 4):
        s = found[count]["sums"]
        said = [1e3 * scaling.all_reduce(place, count, LARGE) for place in (link, shared)]
        lines.append(
            f"all-reduce, {count} processes: 64 MB in {s['large retrograd'] * 1e3:.1f} ms, "
            f"{s['large retrograd'] / s['large mpi4py']:.3f} of mpi4py's; the model says {said[0]:.1f} ms by "
            f"messages, {said[1]:.1f} ms if fitted to 2 processes; "
            f"one number in {s['small retrograd'] * 1e6:.0f} us (mpi4py: {s['small mpi4py'] * 1e6:.0f} us)")
    lines.append("efficiency by the model, 100 MB of gradients, step of 300 ms (100 forward, 200 backward):")
    lines.append("processes      " + "".join(f"{count:>8}" for count in COUNTS))
    for name, place in (("this machine's", shared), ("100 Gbit/s", CLUSTER)):
        for overlap in (0.0, 0.8):
            cells = [scaling.efficiency(place, count, 1e8, 0.1, 0.2, overlap) for count in COUNTS]
            lines.append(f"{name:<15}" + "".join(f"{cell:8.1%}" for cell in cells) + f"   overlap {overlap:.0%}")
    return "\n".join(lines)


COUNTS = (1, 2, 4, 8, 16, 64, 256, 1000)


def main() -> None:
    """Start the processes, and print what they measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inside", action="store_true", help="measure, as one of the processes")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    if options.inside:
        return measure()
    found = {}
    for count in (1, 2, 4):
        command = [sys.executable, "-m", "retrograd", "launch", "--nproc", str(count), "-m", "benchmarks.processes",
                   "--inside"]
        result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300)
        found[count] = json.loads(result.stdout)
    print(report(found))
    if options.json:
        options.json.write_text(json.dumps(found))
    return None


if __name__ == "__main__":
    main()
