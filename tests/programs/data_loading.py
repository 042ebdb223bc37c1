"""A program that loads data in every way, and prints the batches, for a comparison of retrograd with PyTorch."""

import random
import warnings
from collections import namedtuple

import numpy as np
import torch
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)
from torch.utils.data._utils.collate import default_collate_fn_map

Point = namedtuple("Point", "x y")


class Nested(Dataset):
    """Samples of every kind, with numbers from each random generator."""

    def __len__(self):
        return 13

    def __getitem__(self, i):
        drawn = torch.rand(()), random.random(), np.random.rand()
        return {"int": i, "tensor": torch.full((2,), float(i)), "numpy": np.float32(i), "point": Point(i, [i, str(i)]),
                "drawn": drawn}


class Stream(IterableDataset):
    """The numbers up to 16, shared among the workers."""

    def __iter__(self):
        info = get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(start, 17, step))

    def __len__(self):
        return 17


class Eager(Sampler):
    """Draws its order when a pass begins, and counts the passes."""

    def __init__(self, generator):
        self.generator, self.passes = generator, 0

    def __iter__(self):
        self.passes += 1
        return iter(torch.randperm(6, generator=self.generator).tolist())


def load(workers):
    """Read all datasets with this many workers."""
    torch.manual_seed(5)
    random.seed(1)
    np.random.seed(1)
    generator = torch.Generator().manual_seed(3)
    for options in ({"batch_size": 5, "shuffle": True}, {"batch_size": None},
                    {"batch_size": 4, "shuffle": True, "drop_last": True, "generator": generator}):
        loader = DataLoader(Nested(), num_workers=workers, **options)
        print(workers, options.get("batch_size"), len(loader), [list(loader) for _ in range(2)])
    for options in ({"batch_size": 4}, {"batch_size": None}, {"batch_size": 3, "drop_last": True}):
        loader = DataLoader(Stream(), num_workers=workers, **options)
        print(len(loader), list(loader), list(loader))
    if workers:
        loader = DataLoader(Nested(), batch_size=6, shuffle=True, persistent_workers=True, prefetch_factor=3,
                            num_workers=workers)
        for _ in range(3):
            print(list(loader), next(iter(loader)))
    for generator in (None, torch.Generator().manual_seed(1)):
        sampler = Eager(generator)
        loader = DataLoader(range(6), None, sampler=sampler, num_workers=workers, generator=generator,
                            persistent_workers=workers > 0)
        print([list(loader) for _ in range(3)], sampler.passes)


def read_rows():
    """Read the rows of tensors by batches of indices of all types."""
    rows = TensorDataset(torch.arange(6.), torch.arange(12).view(6, 2))
    for batch in ([0, 1], [-1, 2], (0, 1), {0, 1}, range(2), (i for i in (1, 2)), torch.tensor([1, 2])):
        print(list(DataLoader(rows, batch_sampler=[batch])))
    usual = default_collate_fn_map[torch.Tensor]
    default_collate_fn_map[torch.Tensor] = lambda batch, *, collate_fn_map=None: torch.stack(batch) * 100
    print(list(DataLoader(rows, batch_size=3)))
    default_collate_fn_map[torch.Tensor] = usual
    rows.__getitems__ = lambda indices: [rows[index] for index in indices[::-1]]
    print(list(DataLoader(rows, batch_size=3)))


def sample():
    """Draw from all samplers."""
    torch.manual_seed(0)
    print(list(RandomSampler(range(50), replacement=True, num_samples=70)))
    print(list(RandomSampler(range(5), num_samples=12)), list(SubsetRandomSampler([3, 5, 9])))
    print(list(WeightedRandomSampler([.1, .9, .4], 7)), list(WeightedRandomSampler([.1, .9, .4], 2, False)))
    print([list(BatchSampler(range(7), 3, last)) for last in (False, True)])
    for length in (7, 10, 3):
        for rank in range(4):
            other = DistributedSampler(range(length), 4, rank, drop_last=True, shuffle=False)
            print(list(DistributedSampler(range(length), 4, rank)), list(other))


def combine():
    """Put datasets together, and take them apart."""
    torch.manual_seed(1)
    print([list(part) for part in random_split(range(11), [.5, .3, .2])], torch.rand(2))
    pairs = TensorDataset(torch.arange(4.), torch.arange(8).view(4, 2))
    both = ConcatDataset([pairs, Subset(pairs, [2, 0])])
    print(len(both), list(both), both[-1], both.cumulative_sizes, list(pairs + pairs))
    print(StackDataset(a=[1, 2], b=[3, 4]).__getitems__([1, 0]), StackDataset([1, 2], [3, 4])[1])
    print(list(Stream() + Stream()), len(Stream() + Stream()))
    for data in (1, np.float64(1), np.array(2), "a", [np.ones(1)], (np.ones(1), 2), {"a": np.ones(1)}, np.str_("x")):
        print(repr(default_convert(data)))
    for batch in ([torch.ones(2), torch.zeros(2)], [b"x"], [1, 2.5], [True, False], [range(2), range(2)],
                  [np.float16(1)], [np.ones(2), np.ones(2)]):
        print(repr(default_collate(batch)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for workers in (0, 2):
        load(workers)
    torch.manual_seed(6)
    print(list(DataLoader(Nested(), 5, num_workers=1, multiprocessing_context="spawn")))
    read_rows()
    sample()
    combine()
