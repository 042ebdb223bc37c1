"""A program that loads data in wrong ways, and prints the errors, for a comparison of retrograd with PyTorch."""

import os
import re
import signal
import time
import warnings

import numpy as np
import torch
from torch.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    StackDataset,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    random_split,
)


def after_a_while(end, *arguments):
    """End this worker when the program has read what the worker sent before and waits for the next batch. If a worker
    ends while the program reads from it, it is left to chance which of several errors PyTorch raises, and how often."""
    time.sleep(1)
    end(*arguments)


FAULTS = {"key": lambda: {}["five"], "value": lambda: int("five"), "stop": lambda: next(iter(())),
          "kill": lambda: after_a_while(os.kill, os.getpid(), signal.SIGKILL),
          "exit": lambda: after_a_while(os._exit, 3), "slow": lambda: time.sleep(3), "": lambda: None}


class Faulty(Dataset):
    """Numbers. Reading the fifth makes the fault."""

    def __init__(self, kind=""):
        self.kind = kind

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 5:
            FAULTS[self.kind]()
        return i


class Longer(IterableDataset):
    """More samples than it says."""

    def __iter__(self):
        return iter(range(3))

    def __len__(self):
        return 2


class OnlyItem(Subset):
    """A subset that overrides one method of two."""

    def __getitem__(self, i):
        return i


def fail(worker):
    raise RuntimeError(f"worker {worker}")


def show(error):
    lines = re.sub(r" exited unexpectedly.*", " exited unexpectedly", str(error)).splitlines() or [""]
    print(type(error).__name__, re.sub(r"\d{3,}", "N", lines[0]), lines[-1] if len(lines) > 1 else "")


def read(dataset, **options):
    """Read a dataset, and print the batches and the error. The number of batches before a worker ends is open."""
    batches = []
    try:
        for batch in DataLoader(dataset, **options):
            batches.append(batch.tolist())
    except Exception as error:
        show(error)
    if getattr(dataset, "kind", "") not in ("kill", "exit"):
        print(batches)


def attempt(make):
    try:
        print(make())
    except Exception as error:
        show(error)


WRONG = (
    {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"prefetch_factor": -2, "num_workers": 1},
    {"persistent_workers": True}, {"shuffle": True, "sampler": [1]}, {"batch_sampler": [[1]], "drop_last": True},
    {"batch_size": None, "drop_last": True}, {"batch_size": 0}, {"batch_size": 2.5}, {"drop_last": 2},
    {"multiprocessing_context": "spawn"}, {"num_workers": 1, "multiprocessing_context": "x"},
    {"num_workers": 1, "multiprocessing_context": 3}, {"batch_size": True}, {"timeout": 2},
    {"num_workers": 1, "prefetch_factor": 0})
CALLS = (
    lambda: RandomSampler([]), lambda: RandomSampler([1], 2), lambda: RandomSampler([1], num_samples=0),
    lambda: WeightedRandomSampler([[1.]], 1), lambda: WeightedRandomSampler([1.], 0),
    lambda: WeightedRandomSampler([1.], 1, 3), lambda: BatchSampler([1], 0, False), lambda: BatchSampler([1], 1, 0),
    lambda: DistributedSampler([1], 2, 3), lambda: next(iter(Sampler())), lambda: len(Sampler()),
    lambda: Dataset()[0], lambda: StackDataset(), lambda: StackDataset([1], a=[2]), lambda: StackDataset([1], [2, 3]),
    lambda: ConcatDataset([]), lambda: ConcatDataset([Longer()]), lambda: ConcatDataset([[1]])[-2],
    lambda: TensorDataset(torch.ones(2), torch.ones(3)), lambda: random_split([1, 2], [1, 2]),
    lambda: random_split([1, 2], [1.5, -.5]), lambda: list(ChainDataset([[1]])), lambda: OnlyItem([1], [0]),
    lambda: default_collate([np.array(["a"])]), lambda: default_collate([object()]), lambda: default_collate([None]),
    lambda: default_collate([[1], [1, 2]]), lambda: default_collate([]),
    lambda: default_collate([torch.ones(2), torch.ones(3)]),
    lambda: default_collate([torch.eye(2).to_sparse(), torch.eye(2).to_sparse()]),
    lambda: default_collate([torch.eye(2).to_sparse_csr(), torch.eye(2).to_sparse_csr()]))


def main():
    warnings.simplefilter("ignore")
    for kind in ("key", "value", "stop", "kill", "exit"):
        read(Faulty(kind), batch_size=2, num_workers=2)
    read(Faulty("slow"), batch_size=2, num_workers=1, timeout=1)
    read(Faulty(), batch_size=2, num_workers=2, worker_init_fn=fail)
    for options in WRONG:
        attempt(lambda options=options: len(list(DataLoader(Faulty(), **options))))
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}, {"shuffle": False}):
        attempt(lambda options=options: len(list(DataLoader(Longer(), **options))))
    loader = DataLoader(Longer())
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        print(len(loader), list(loader), [re.sub(r" at 0x\w+", "", str(warning.message)) for warning in seen])
    for name in ("batch_size", "sampler", "dataset", "num_workers"):
        attempt(lambda name=name: setattr(loader, name, 3))
    for make in CALLS:
        attempt(make)


if __name__ == "__main__":
    main()
