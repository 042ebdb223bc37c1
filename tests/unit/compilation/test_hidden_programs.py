"""Programs with hidden state run compiled as they run without: each piece alone, and pieces put together at random.

`RETROGRAD_PROGRAMS=5000` in the environment runs so many seeds.
"""

from __future__ import annotations

import os

import pytest

from compiled.pieces import PIECES
from compiled.sizes import EXECUTORS
from programs.hidden_programs import Author
from programs.hidden_worlds import compared, shrunk

COUNT = int(os.environ.get("RETROGRAD_PROGRAMS", "200"))
GROUPS = 20
pytestmark = pytest.mark.filterwarnings("ignore:torch.compile (runs|traces)")


@pytest.mark.sampled(61)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", PIECES)
def test_one_piece(name: str, backend: str) -> None:
    author = Author(0, [PIECES[name]])
    assert not compared(author, backend).difference
    quiet = compared(author.without_changes(), backend)
    assert not quiet.difference
    repeated = quiet.traces <= 2 or bool(PIECES[name].given)                   # the arguments may differ
    assert (not quiet.reasons and repeated) or not PIECES[name].stays, quiet.reasons


@pytest.mark.sampled(40)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs(group: int, backend: str) -> None:
    stay = 0
    seeds = range(group, COUNT, GROUPS)
    for seed in seeds:
        author = Author(seed)
        outcome = compared(author, backend)
        if outcome.difference:
            fewer = shrunk(author, backend)
            pytest.fail(f"seed {seed}, {fewer.calls}\n{fewer.source}\n{compared(fewer, backend).difference}")
        stay += not outcome.reasons
    assert stay > len(seeds) // 3
