"""A program that builds data pipes and reads them, for a comparison of retrograd with PyTorch."""

# ruff: noqa: B023     each function is called before its loop goes on

import io
import pickle
import re
import tempfile
import warnings
from pathlib import Path

import torch
from torch.utils.data import (
    DataChunk,
    DataLoader,
    IterDataPipe,
    MapDataPipe,
    functional_datapipe,
    graph,
    graph_settings,
    guaranteed_datapipes_determinism,
    non_deterministic,
)
from torch.utils.data.datapipes import iter as pipes, map as maps
from torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES
from torch.utils.data.datapipes.utils.snapshot import _simple_graph_snapshot_restoration as restore

warnings.simplefilter("always")


def odd(x):
    return x % 2


def big(x):
    return x > 2


def add(x, y):
    return x + y


def neg(x):
    return -x


@functional_datapipe("thrice")
class Thrice(IterDataPipe):
    def __init__(self, source, times=3):
        self.source, self.times = source, times

    def __iter__(self):
        for x in self.source:
            yield self.times * x


class Counting(IterDataPipe):
    def __init__(self):
        self.n = 0

    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.n

    def reset(self):
        self.n = 0


class Listed(IterDataPipe):
    def __iter__(self):
        return iter([1, 2])


class Failing(IterDataPipe):
    def __iter__(self):
        yield 1
        raise ValueError("a bad sample")


@non_deterministic
class Uncertain(IterDataPipe):
    pass


class Squares(MapDataPipe):
    def __getitem__(self, i):
        return i * i

    def __len__(self):
        return 5


def show(name, call):
    """Print what a call returns or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except Exception as error:
            found = f"{type(error).__name__}{error.args}"
    said = sorted({f"{w.category.__name__}: {w.message}" for w in caught})
    print(name, re.sub(r"0x[0-9a-f]+", "0x", repr(found)).replace("retrograd.", "torch."), *said, sep=" | ")


def numbers(n=5):
    return pipes.IterableWrapper(range(n))


def stale(pipe):
    old = iter(pipe)
    next(old)
    next(iter(pipe))
    return next(old)


def pairs():
    return pipes.IterableWrapper([(1, 2), (3, 4)])


def read_pipes():
    for name, make in {
        "map": lambda: numbers().map(neg), "thrice": lambda: numbers().thrice(times=2),
        "filter": lambda: numbers().filter(big),
        "column": lambda: pairs().map(neg, input_col=1), "added": lambda: pairs().map(neg, input_col=1, output_col=-1),
        "two": lambda: pairs().map(add, input_col=[1, 0]), "into": lambda: pairs().map(add, [0, 1], 1),
        "keys": lambda: pipes.IterableWrapper([{"a": 1}]).map(neg, "a", "b"),
        "filtered": lambda: pairs().filter(big, 1),
        "batch": lambda: numbers().batch(2), "full": lambda: numbers().batch(2, drop_last=True),
        "unbatch": lambda: numbers().batch(2).batch(2).unbatch(2),
        "flat": lambda: numbers().batch(2).batch(2).unbatch(-1),
        "deep": lambda: numbers().batch(2).unbatch(2), "level": lambda: numbers().unbatch(-2),
        "group": lambda: numbers().groupby(odd), "groups": lambda: numbers().groupby(odd, buffer_size=3, group_size=2),
        "keyed": lambda: numbers().groupby(odd, keep_key=True),
        "small": lambda: numbers().groupby(neg, buffer_size=2, group_size=2),
        "dropped": lambda: numbers(9).groupby(odd, buffer_size=3, group_size=3, drop_remaining=True),
        "concat": lambda: numbers(2).concat(numbers(3)), "zip": lambda: numbers().zip(numbers(3)),
        "mux": lambda: numbers().mux(numbers(2), numbers(3)), "collate": lambda: numbers().batch(2).collate(),
        "sampler": lambda: pipes.Sampler(numbers()), "stream": lambda: pipes.IterableWrapper(
            [("n", io.BytesIO(b"abcde"))], deepcopy=False).read_from_stream(2),
        "shuffle": lambda: numbers().shuffle(), "buffer": lambda: numbers().shuffle(buffer_size=2),
        "seed": lambda: numbers().shuffle().set_seed(3), "off": lambda: numbers().shuffle().set_shuffle(False),
        "unbatched": lambda: numbers().batch(2).shuffle(unbatch_level=1), "counting": Counting, "listed": Listed,
        "failing": lambda: Failing().batch(1), "uncertain": lambda: numbers().map(int).filter(odd),
        "map pipe": lambda: Squares().shuffle(), "zipped": lambda: Squares().zip(Squares()),
        "map batch": lambda: Squares().batch(2),
        "concatenated": lambda: Squares().concat(maps.SequenceWrapper("ab")), "mapped": lambda: Squares().map(neg),
    }.items():
        torch.manual_seed(5)
        pipe = make()
        show(name, lambda: (list(pipe) if isinstance(pipe, IterDataPipe) else [pipe[i] for i in range(len(pipe))]))
        show("again", lambda: list(pipe) if isinstance(pipe, IterDataPipe) else pipe[99])
        show("length", lambda: len(pipe))
        show("stale", lambda: stale(pipe))
        show("kept", lambda: (str(pipe), type(pipe).__name__, torch.rand(1).item()))


def divide():
    left, right = numbers().fork(2)
    show("fork", lambda: (list(left), list(right), len(left), repr(left)))
    show("again", lambda: (next(iter(left)), list(left), stale(right)))
    show("overflow", lambda: list(numbers().fork(2, buffer_size=2)[1]))
    show("copies", lambda: [a is b for a, b in zip(*pipes.IterableWrapper([[1]]).fork(2, copy="shallow"))])
    show("one", lambda: list(numbers().fork(1)))
    for options in ({}, {"drop_none": True}, {"buffer_size": 1}, {"buffer_size": -1}):
        show("demux", lambda: [list(p) for p in numbers().demux(2, odd, **options)])
        show("none", lambda: [list(p) for p in numbers().demux(2, {0: 1}.get, **options)])
    show("unknown", lambda: list(numbers().demux(2, neg)[0]))


def faults():
    for call in (
        lambda: numbers().nothing, lambda: numbers().map(3), lambda: numbers().map(neg, output_col=1),
        lambda: numbers().map(add, input_col=0), lambda: numbers().map(neg, input_col=[0, 1]),
        lambda: numbers().map(lambda x: x),
        lambda: numbers().batch(0), lambda: numbers().shuffle(buffer_size=0), lambda: numbers().concat(3),
        lambda: numbers().zip(3),
        lambda: numbers().fork(0), lambda: numbers().fork(2, copy="x"),
        lambda: numbers().groupby(odd, guaranteed_group_size=2),
        lambda: numbers().groupby(odd, group_size=2, buffer_size=1), lambda: pipes.FileOpener([], mode="q"),
        lambda: pipes.FileOpener([], mode="rb", encoding="utf-8"), lambda: Squares().batch(0), lambda: Squares().zip(1),
        lambda: maps.Concater(), lambda: functional_datapipe("map")(Thrice), lambda: non_deterministic(3),
        lambda: non_deterministic(int), lambda: graph.traverse_dps(3), lambda: numbers()[0],
        lambda: pipes.Sampler(Counting()),
        lambda: list(pipes.FileLister("/no such folder")), lambda: DataLoader(numbers(), sampler=[1]),
        lambda: graph_settings.apply_sharding(numbers().sharding_filter().map(int).sharding_filter(), 2, 0),
    ):
        show("fault", call)
    with guaranteed_datapipes_determinism():
        show("determinism", Uncertain)


def graphs():
    pipe = numbers().shuffle().sharding_filter().zip(numbers(4).map(neg))
    show("pipes", lambda: graph_settings.get_all_graph_pipes(graph.traverse_dps(pipe)))
    show("seeded", lambda: list(graph_settings.apply_random_seed(pipe, torch.Generator().manual_seed(1))))
    show("part", lambda: list(graph_settings.apply_sharding(pipe, 2, 1)))
    show("settings", lambda: list(graph_settings.apply_shuffle_settings(pipe, False)))
    show("added", lambda: graph_settings.apply_shuffle_settings(numbers(), True))
    part = numbers(13).sharding_filter()
    part.apply_sharding(2, 1, SHARDING_PRIORITIES.DISTRIBUTED)
    part.apply_sharding(3, 2, SHARDING_PRIORITIES.MULTIPROCESSING)
    show("groups", lambda: (list(part), len(part)))
    show("mixed", lambda: part.apply_sharding(2, 1))
    show("too large", lambda: part.apply_sharding(2, 2))
    copied = pickle.loads(pickle.dumps(numbers().shuffle()))
    show("pickled", lambda: sorted(copied))
    back = numbers()
    restore(back, 2)
    show("restored", lambda: (list(back), list(back)))
    show("too far", lambda: restore(numbers(), 9))
    show("chunk", lambda: (DataChunk([1, 2]).as_str("> "), str(DataChunk([[1], 2]))))
    show("items", lambda: list(DataChunk("ab").raw_iterator()))


def files():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "below").mkdir()
        for name, text in {"b.txt": "text", "a.json": '{"a": 1}', "n.cls": "3", "below/c.txt": "c"}.items():
            (Path(folder) / name).write_text(text)
        for options in ({}, {"recursive": True}, {"masks": "*.txt"}, {"masks": ["*.txt", "*.json"], "recursive": True}):
            show("files", lambda: [path.replace(folder, "") for path in pipes.FileLister(folder, **options)])
        lister = pipes.FileLister(folder)
        show("read", lambda: [(p.replace(folder, ""), text)
                              for p, text in pipes.FileOpener(lister, mode="b").read_from_stream()])
        show("decoded", lambda: [t for _, t in pipes.FileOpener(lister, mode="b").routed_decode()])


def shuffled():
    return numbers(10).shuffle().sharding_filter()


def load(make, **options):
    torch.manual_seed(7)
    loader = DataLoader(make(), batch_size=3, **options)
    passes = [[batch.tolist() for batch in loader] for _ in range(2)]
    return passes, type(loader.dataset).__name__, torch.randint(100, (1,)).item()


def loaders():
    for workers in (0, 2):
        for shuffle in (None, True, False):
            show("loader", lambda: load(shuffled, shuffle=shuffle, num_workers=workers))
        show("plain", lambda: load(numbers, shuffle=True, num_workers=workers))
        show("map", lambda: load(Squares, shuffle=True, num_workers=workers))
    show("persistent", lambda: load(shuffled, num_workers=2, persistent_workers=True))


read_pipes()
divide()
faults()
graphs()
files()
loaders()
