"""Checkpoints of one process: which values they have, how these are read, and what else lies in their folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd.distributed import checkpoint
from retrograd.distributed.checkpoint.stateful import Stateful


def through(folder: Path, given: dict[str, Any], present: dict[str, Any]) -> dict[str, Any]:
    """A state that a checkpoint of another state was read into."""
    checkpoint.save(given, checkpoint_id=folder / "saved")
    checkpoint.load(present, checkpoint_id=folder / "saved")
    return present


def test_other_files_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").write_text("mine")
    monkeypatch.chdir(tmp_path)
    for place in (tmp_path, Path(), tmp_path):
        checkpoint.save({"x": torch.ones(2)}, checkpoint_id=place)
    names = sorted(os.listdir(tmp_path))
    assert [name for name in names if not name.startswith("__")] == [".metadata", "notes"]
    assert len(names) == 3
    assert (tmp_path / "notes").read_text() == "mine"
    with pytest.raises(FileExistsError):
        checkpoint.save({"x": 1}, checkpoint_id=tmp_path / "notes")
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_save_that_fails_leaves_the_former(tmp_path: Path) -> None:
    checkpoint.save({"x": torch.ones(2)}, checkpoint_id=tmp_path)
    with pytest.raises(TypeError):
        checkpoint.save({"x": torch.zeros(2), "bad": (i for i in "x")}, checkpoint_id=tmp_path)
    state = {"x": torch.zeros(2)}
    checkpoint.load(state, checkpoint_id=tmp_path)
    assert state["x"].tolist() == [1.0, 1.0]
    checkpoint.save({"x": torch.ones(2)}, checkpoint_id=tmp_path)
    assert len(os.listdir(tmp_path)) == 2


def test_values_of_one_name(tmp_path: Path) -> None:
    for state in ({"a": {"b": 1}, "a.b": 2}, {1: 1, "1": 2}):
        with pytest.raises(ValueError, match="duplicated flatten key"):
            checkpoint.save(state, checkpoint_id=tmp_path)


def test_lists_and_dicts(tmp_path: Path) -> None:
    x, y = torch.zeros(1), torch.zeros(1)
    found = through(tmp_path, {"l": [torch.ones(1), 3], "d": [{"t": torch.ones(1)}], "n": [1, 2], 5: {"e": {}}},
                    {"l": [x, 4], "d": [{"t": y}], "n": [0], 5: {"e": {}}})
    assert found == {"l": [x, 3], "d": [{"t": y}], "n": [1, 2], 5: {"e": {}}}
    assert (x.item(), y.item()) == (1.0, 1.0)
    assert through(tmp_path, {}, {}) == {}
    assert through(tmp_path, {"t": (torch.ones(1), 3)}, {"t": ()})["t"][1] == 3


def test_tensors_and_other_values(tmp_path: Path) -> None:
    assert through(tmp_path, {"x": 1}, {"x": torch.zeros(2)}) == {"x": 1}
    with pytest.raises(ValueError, match="Invalid checkpoint metadata for x"):
        through(tmp_path, {"x": torch.ones(2)}, {"x": 1})


def test_an_optimizer_without_a_state(tmp_path: Path) -> None:
    layer, other = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    given, fresh = torch.optim.Adam(layer.parameters(), lr=0.5), torch.optim.Adam(other.parameters())
    layer(torch.ones(1)).sum().backward()
    given.step()
    through(tmp_path, {"optimizer": given}, {"optimizer": fresh})
    assert fresh.param_groups[0]["lr"] == 0.5


def test_a_small_view_of_much_memory(tmp_path: Path) -> None:
    checkpoint.save({"x": torch.ones(100_000)[:2]}, checkpoint_id=tmp_path)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 10_000


def test_a_future_of_a_checkpoint(tmp_path: Path) -> None:
    saved = checkpoint.async_save({"model": torch.nn.Linear(2, 1), "step": 4}, checkpoint_id=tmp_path)
    assert (saved.done(), saved.result()) == (True, None)
    state = {"step": 0}
    checkpoint.load(state, checkpoint_id=tmp_path)
    assert state == {"step": 4}
    assert isinstance(torch.nn.Linear(2, 1), Stateful)
    assert not isinstance(3, Stateful)


def test_arguments(tmp_path: Path) -> None:
    for call in (checkpoint.save, checkpoint.load):
        with pytest.raises(RuntimeError, match="`checkpoint_id` must be specified"):
            call({})
        with pytest.raises(NotImplementedError, match="planner"):
            call({}, checkpoint_id=tmp_path, planner=3)
