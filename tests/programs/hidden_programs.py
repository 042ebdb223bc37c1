"""Random programs with hidden state: pieces (`compiled.pieces`) put together from a seed, run as they are and compiled.

A program is text: what the pieces prepare, one or two functions that use them, and for each piece a function that
changes the state between calls and one that shows what calls have left. Both runs call the same functions in the same
order, with the same changes between.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from compiled.pieces import PIECES, Piece

# How a piece is used in the function: `{n}` is its number, and USE its lines. The first part stands outside.
_WAYS = {
    "here": ("", "USE"),
    "a helper": ("def way_helper{n}(x, y, kw):\n    USE\n    return x", "x = way_helper{n}(x, y, kw)"),
    "a helper of a helper": ("def way_inner{n}(x, y, kw):\n    USE\n    return x\ndef way_helper{n}(x, *args):\n"
                             "    return way_inner{n}(x, *args)",
                             "x = way_helper{n}(x, y, kw)"),
    "a default": ("def way_helper{n}(x, y, kw, factor=2.0):\n    USE\n    return x * factor",
                  "x = way_helper{n}(x, y, kw)"),
    "a method": ("class way_Host{n}:\n    def use(self, x, y, kw):\n        USE\n        return x\n"
                 "way_host{n} = way_Host{n}()",
                 "x = way_host{n}.use(x, y, kw)"),
    "a call of an object": ("class way_Host{n}:\n    def __call__(self, x, y, kw):\n        USE\n        return x\n"
                            "way_host{n} = way_Host{n}()", "x = way_host{n}(x, y, kw)"),
    "a static method": ("class way_Host{n}:\n    @staticmethod\n    def use(x, y, kw):\n        USE\n        return x",
                        "x = way_Host{n}.use(x, y, kw)"),
    "a class method": ("class way_Host{n}:\n    @classmethod\n    def use(cls, x, y, kw):\n        USE\n"
                       "        return x",
                       "x = way_Host{n}.use(x, y, kw)"),
    "an operator": ("class way_Host{n}:\n    def __matmul__(self, given):\n        x, y, kw = given\n        USE\n"
                    "        return x\nway_host{n} = way_Host{n}()", "x = way_host{n} @ (x, y, kw)"),
    "a module": ("class way_Part{n}(nn.Module):\n    def forward(self, x, y, kw):\n        USE\n        return x\n"
                 "way_part{n} = way_Part{n}()", "x = way_part{n}(x, y, kw)"),
    "a submodule": ("class way_Inner{n}(nn.Module):\n    def forward(self, x, y, kw):\n        USE\n        return x\n"
                    "class way_Part{n}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                    "        self.parts = nn.ModuleList([way_Inner{n}()])\n    def forward(self, *args):\n"
                    "        return self.parts[0](*args)\nway_part{n} = way_Part{n}()", "x = way_part{n}(x, y, kw)"),
    "a partial": ("def way_helper{n}(kw, x, y):\n    USE\n    return x",
                  "x = functools.partial(way_helper{n}, kw)(x, y)"),
    "a kept partial": ("def way_helper{n}(factor, x, y, kw):\n    USE\n    return x * factor\n"
                       "way_partial{n} = functools.partial(way_helper{n}, 2.0)", "x = way_partial{n}(x, y, kw)"),
    "a decorated helper": ("def way_decorated{n}(function):\n    @functools.wraps(function)\n"
                           "    def call(*args, **kwargs):\n        return function(*args, **kwargs)\n    return call\n"
                           "@way_decorated{n}\ndef way_helper{n}(x, y, kw):\n    USE\n    return x",
                                                                 "x = way_helper{n}(x, y, kw)"),
    "a list of functions": ("def way_helper{n}(x, y, kw):\n    USE\n    return x\n"
                            "way_helpers{n} = [way_helper{n}]",
                            "for helper in way_helpers{n}:\n    x = helper(x, y, kw)"),
    "a dict of functions": ("def way_helper{n}(x, y, kw):\n    USE\n    return x\n"
                            "way_helpers{n} = {{'a': way_helper{n}}}",
                            "x = way_helpers{n}['a'](x, y, kw)"),
    "a generator": ("def way_helper{n}(x, y, kw):\n    USE\n    yield x", "x = next(way_helper{n}(x, y, kw))"),
    "a comprehension": ("def way_helper{n}(x, y, kw):\n    USE\n    return x",
                        "x = [way_helper{n}(x, y, kw) for _ in range(1)][0]"),
    "map": ("def way_helper{n}(x, y, kw):\n    USE\n    return x", "x = [*map(way_helper{n}, [x], [y], [kw])][0]"),
    "a function in the function": ("", "def way_inner{n}(x, y, kw):\n    USE\n    return x\n"
                                       "x = way_inner{n}(x, y, kw)"),
    "a loop": ("", "for _ in range(2):\n    USE"),
    "a condition": ("", "if x.ndim:\n    USE"),
    "a try": ("", "try:\n    USE\nfinally:\n    x = x + 1"),
    "a mode": ("", "with torch.enable_grad():\n    USE"),
    "a property": ("class way_Host{n}:\n    @property\n    def use(self):\n        x, y, kw = self.given\n        USE\n"
                   "        return x", "host = way_Host{n}()\nhost.given = x, y, kw\nx = host.use"),
    "a context": ("@contextlib.contextmanager\ndef way_context{n}(x, y, kw):\n    USE\n    yield x",
                  "with way_context{n}(x, y, kw) as x:\n    x = x + 1"),
}
# What is compiled: NAME is the name of the function, BODY its lines, which end with a return.
_HOSTS = {
    "a function": "def NAME(x, y=None, **kw):\n    BODY",
    "a method": "class HostNAME:\n    def run(self, x, y=None, **kw):\n        BODY\nNAME = HostNAME().run",
    "a module": ("class HostNAME(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                 "        self.weight = nn.Parameter(torch.ones(1))\n    def forward(self, x, y=None, **kw):\n"
                 "        x = x * self.weight\n        BODY\nNAME = HostNAME()"),
    "an object": "class HostNAME:\n    def __call__(self, x, y=None, **kw):\n        BODY\nNAME = HostNAME()",
    "a partial": "def partNAME(factor, x, y=None, **kw):\n    x = x * factor\n    BODY\n"
                 "NAME = functools.partial(partNAME, 2.0)",
    "a closure": "def makeNAME(factor):\n    def made(x, y=None, **kw):\n        x = x * factor\n        BODY\n"
                 "    return made\nNAME = makeNAME(2.0)",
    "a decorated function": "@torch.no_grad()\ndef NAME(x, y=None, **kw):\n    BODY",
}
_ENDS = ("return x",) * 5 + ("return x, [x * 2]", "return {'a': x, 'b': 1}", "return x.sum()", "return None")
_SIZES = ((3,) * 8,) * 4 + ((3, 4, 5, 6, 7, 8, 3, 9), (3, 3, 4, 4, 3, 5, 5, 6))
_KINDS = ("torch.arange(1.0, size + 1)",) * 4 + (
    "torch.arange(1.0, size + 1, requires_grad=True)", "torch.arange(1.0, size + 1, dtype=torch.float64)",
    "torch.arange(1.0, 2 * size + 1)[::2]", "torch.arange(1.0, size + 1)[:]")


class Call(NamedTuple):
    """One call: of which function, with which size, after changes of which pieces; and whether a backward follows."""

    function: int
    size: int
    changes: tuple[int, ...]
    backward: bool


class Author:
    """What a seed says: the pieces of a program, how they are put together, and the calls."""

    def __init__(self, seed: int, pieces: Sequence[Piece] = ()) -> None:
        draw = random.Random(seed)
        self.alone = bool(pieces)
        self.pieces = [*pieces] or self._drawn(draw)
        self.scope = draw.choice(("global", "nonlocal"))
        names = [*_WAYS] if not self.alone else ["here"]
        self.ways = [draw.choice(names) for _ in self.pieces]
        count = 2 if draw.random() < 0.25 and not self.alone else 1
        self.hosts = [draw.choice([*_HOSTS]) if not self.alone else "a function" for _ in range(count)]
        self.used = [[*range(len(self.pieces))] if f == 0 else draw.sample(range(len(self.pieces)), k=1)
                     for f in range(count)]
        self.ends = [draw.choice(_ENDS) if not self.alone else "return x" for _ in range(count)]
        sizes = draw.choice(_SIZES) if not self.alone else _SIZES[0]
        self.kind = draw.choice(_KINDS) if not self.alone else _KINDS[0]
        self.dynamic = draw.choice((None, None, None, True, False)) if not self.alone else None
        often = draw.choice((0.2, 0.5, 0.9)) if not self.alone else 1.0
        self.calls = [Call(draw.randrange(count), size, tuple(n for n in range(len(self.pieces))
                                                              if draw.random() < often), draw.random() < 0.5)
                      for size in sizes[:6 if self.alone else 8]]

    @staticmethod
    def _drawn(draw: random.Random) -> list[Piece]:
        """Most programs have only pieces that stay compiled, so that the run comes to the other pieces."""
        every = [*PIECES.values()]
        known = [piece for piece in every if piece.stays]
        count = draw.choice((1, 2, 2, 3, 3, 4, 5))
        chosen = draw.sample(known if draw.random() < 0.8 else every, k=count)
        given = [piece for piece in chosen if piece.given]
        return [piece for piece in chosen if not piece.given or piece is given[0]]

    @property
    def source(self) -> str:
        """The text of the program."""
        lines: list[str] = []
        for n, piece in enumerate(self.pieces):
            lines += [*piece.lines("setup", n, self.scope), *self._with_use(_WAYS[self.ways[n]][0], n)]
        for f, host in enumerate(self.hosts):
            body: list[str] = []
            for n in self.used[f]:
                body += self._with_use(_WAYS[self.ways[n]][1], n)
            lines += _filled(_HOSTS[host].replace("NAME", f"step{f}"), "BODY", [*body, self.ends[f]])
        for n, piece in enumerate(self.pieces):
            lines += [f"def change{n}(i):", *_indented([*piece.lines("change", n, self.scope), "return"])]
            lines += [f"def given{n}(x, i, y, kw):", *_indented([*piece.lines("given", n, self.scope),
                                                                 "return x, y, kw"])]
            shown = "".join([f"({line}), " for line in piece.lines("left", n, self.scope)])
            lines += [f"def left{n}():", f"    return ({shown})"]
        if self.scope == "nonlocal":
            lines = ["def make():", *_indented([*lines, "return locals()"])]
        return "\n".join(lines) + "\n"

    def _with_use(self, text: str, n: int) -> list[str]:
        if not text:
            return []
        return _filled(text.replace("{{", "{").replace("}}", "}").replace("{n}", str(n)), "USE",
                       self.pieces[n].lines("use", n, self.scope))

    def without_changes(self) -> Author:
        """The same program without changes between its calls."""
        quiet = object.__new__(Author)
        quiet.__dict__.update(self.__dict__)
        quiet.calls = [call._replace(changes=(), backward=False) for call in self.calls]
        return quiet

    def without(self, n: int) -> Author:
        """The same program without a piece."""
        fewer = object.__new__(Author)
        fewer.__dict__.update(self.__dict__)
        places = [place for place in range(len(self.pieces)) if place != n]
        fewer.pieces, fewer.ways = [self.pieces[p] for p in places], [self.ways[p] for p in places]
        fewer.used = [[places.index(p) for p in used if p != n] for used in self.used]
        fewer.calls = [call._replace(changes=tuple(places.index(p) for p in call.changes if p != n))
                       for call in self.calls]
        return fewer


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _filled(text: str, mark: str, lines: Sequence[str]) -> list[str]:
    """The lines of a text, with lines in the place of a mark, indented as the mark is."""
    found: list[str] = []
    for line in text.splitlines():
        if line.strip() == mark:
            space = line[:len(line) - len(line.lstrip())]
            found += [space + each for each in lines]
        else:
            found.append(line)
    return found
