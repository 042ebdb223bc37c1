"""A program that changes containers of modules and of parameters at random, and prints them after each call.

    python containers.py 0 500          # the seeds

After an error the container is replaced by a new one, since PyTorch may have changed a part of the old one by then.
"""

import copy
import pickle
import random
import sys
from collections import OrderedDict

import torch
from torch import nn

NAMES = ["a", "b", "c", "0", "1"]
KEYS = [*NAMES, "x.y", "", "forward", "keys", "training", 3, None]
INDICES = [0, 1, -1, -2, 5, -7, slice(None), slice(1, None), slice(None, None, 2), slice(-1, None, -1), "0", True, None]
FACTORS = [0, 1, 2, -1, 1.5, True]
KINDS = {"Sequential": nn.Sequential, "ModuleList": nn.ModuleList, "ModuleDict": nn.ModuleDict,
         "ParameterList": nn.ParameterList, "ParameterDict": nn.ParameterDict}


class Blocks(nn.ModuleList):
    """A list with another layer beside its numbered ones."""

    def __init__(self, modules=None):
        super().__init__()
        self.norm = nn.Tanh()
        self.extend(modules or [])


KINDS["Blocks"] = Blocks


def module(draws):
    return draws.choice([lambda: nn.Linear(2, 2), nn.ReLU, nn.Identity, lambda: nn.Sequential(nn.Linear(2, 2)),
                         lambda: nn.ModuleList([nn.Tanh()]), lambda: nn.BatchNorm1d(2)])()


def parameter(draws):
    return draws.choice([lambda: nn.Parameter(torch.ones(2)), lambda: torch.zeros(2),
                         lambda: nn.Parameter(torch.ones(1, 2), requires_grad=False)])()


class Trial:
    """One container and the calls that change it."""

    def __init__(self, seed):
        self.draws = random.Random(seed)
        self.kind = self.draws.choice([*KINDS])
        self.one = parameter if "Parameter" in self.kind else module
        self.held = self.new()

    def new(self):
        """A container of the kind of the trial."""
        values = [self.one(self.draws) for _ in range(self.draws.randrange(4))]
        named = OrderedDict(zip(self.draws.sample(NAMES, len(values)), values))
        if "Dict" in self.kind:
            return KINDS[self.kind](named)
        if self.kind == "Sequential":
            return nn.Sequential(named) if self.draws.random() < 0.3 else nn.Sequential(*values)
        return KINDS[self.kind](values)

    def value(self):
        """What is put into the container: mostly what belongs there."""
        other = module if self.one is parameter else parameter
        return self.draws.choice([lambda: self.one(self.draws)] * 6 + [lambda: None, lambda: 3,
                                                                       lambda: other(self.draws)])()

    def values(self):
        some = [self.value() for _ in range(self.draws.randrange(3))]
        return self.draws.choice([lambda: some, self.new, lambda: 3])()

    def items(self):
        key, value = str(self.draws.choice(KEYS)), self.value()
        return self.draws.choice([{key: value}, [(key, value)], 3, [(1, 2, 3)], ["ab"],
                                  OrderedDict(b=value, a=self.value())])

    # Calls: each returns what is printed

    def get(self):
        return self.held[self.draws.choice(INDICES)]

    def set(self):
        self.held[self.draws.choice(INDICES)] = self.value()

    def delete(self):
        del self.held[self.draws.choice(INDICES)]

    def append(self):
        return self.held.append(self.value()) is self.held

    def insert(self):
        self.held.insert(self.draws.choice(INDICES), self.value())

    def extend(self):
        return self.held.extend(self.values()) is self.held

    def pop(self):
        return self.held.pop(self.draws.choice(INDICES))

    def add(self):
        return self.held + self.values()

    def add_in_place(self):
        self.held += self.values()

    def times(self):
        return self.held * self.draws.choice(FACTORS)

    def times_in_place(self):
        self.held *= self.draws.choice(FACTORS)

    def times_from_the_left(self):
        return self.draws.choice(FACTORS) * self.held

    def reverse(self):
        return [type(each).__name__ for each in reversed(self.held)]

    def add_module(self):
        self.held.add_module(self.draws.choice([*KEYS, "z"]), module(self.draws))

    def set_attribute(self):
        setattr(self.held, str(self.draws.choice(KEYS)), self.value())

    def delete_attribute(self):
        delattr(self.held, str(self.draws.choice(KEYS)))

    def copy(self):
        self.held = copy.deepcopy(self.held)

    def pickle(self):
        self.held = pickle.loads(pickle.dumps(self.held))

    def call(self):
        return tuple(self.held(torch.ones(3, 2)).shape)

    def contains(self):
        return self.draws.choice(KEYS) in self.held

    def load(self):
        return self.held.load_state_dict({"a": torch.ones(2), "0.weight": torch.ones(2, 2)}, strict=False)

    def submodule(self):
        return type(self.held.get_submodule(self.draws.choice(NAMES))).__name__

    def key_get(self):
        return self.held[self.draws.choice(KEYS)]

    def key_set(self):
        self.held[self.draws.choice(KEYS)] = self.value()

    def key_delete(self):
        del self.held[self.draws.choice(KEYS)]

    def key_pop(self):
        return self.held.pop(self.draws.choice(KEYS))

    def update(self):
        self.held.update(self.items())

    def popitem(self):
        return self.held.popitem()

    def setdefault(self):
        return self.held.setdefault(self.draws.choice(KEYS), parameter(self.draws))

    def get_or(self):
        return self.held.get(self.draws.choice(KEYS), 7)

    def merge(self):
        return self.held | self.new()

    def merge_in_place(self):
        self.held |= self.new()

    def clear(self):
        self.held.clear()


T = Trial
ANY = (T.set_attribute, T.delete_attribute, T.copy, T.pickle, T.call, T.contains, T.load, T.submodule, T.add_module,
       T.reverse)
SERIES = (T.get, T.set, T.delete, T.append, T.insert, T.extend, T.pop, T.add, T.add_in_place)
MAPS = (T.key_get, T.key_set, T.key_delete, T.key_pop, T.update, T.clear)
CALLS = {"Sequential": (*ANY, *SERIES, *SERIES, T.times, T.times_in_place, T.times_from_the_left),
         "ModuleList": (*ANY, *SERIES, *SERIES), "Blocks": (*ANY, *SERIES, *SERIES), "ParameterList": (*ANY, *SERIES),
         "ModuleDict": (*ANY, *MAPS, *MAPS),
         "ParameterDict": (*ANY, *MAPS, T.popitem, T.setdefault, T.get_or, T.merge, T.merge_in_place)}

def shown(value):
    if isinstance(value, torch.Tensor):
        return f"{type(value).__name__} {tuple(value.shape)} {value.requires_grad}"
    if isinstance(value, nn.Module):
        names = [name for name, _ in value.named_parameters()] + [name for name, _ in value.named_modules()]
        return f"{value!r} {names} {[*value.state_dict()]}".replace("\n", "|")
    if isinstance(value, tuple) and type(value) is tuple:
        return f"({', '.join(map(shown, value))})"
    return repr(value)


for seed in range(int(sys.argv[1]), int(sys.argv[2])):
    trial = Trial(seed)
    print(f"{seed} {trial.kind}: {shown(trial.held)}")
    for _ in range(10):
        call = trial.draws.choice(CALLS[trial.kind])
        try:
            print(f"{seed} {call.__name__}: {shown(call(trial))}; {shown(trial.held)}")
        except Exception as error:
            print(f"{seed} {call.__name__}: {type(error).__name__}: {error}")
            trial.held = trial.new()
