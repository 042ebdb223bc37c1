"""Names that few programs use: events, statistics, streams, Sobol sequences. The facts were taken from PyTorch 2.13."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta
from typing import Any

import pytest

import retrograd as torch
from needing import needs
from retrograd import _RARE, monitor
from retrograd.foundations.names import inside


@pytest.mark.parametrize("name", sorted(inside(_RARE)))
def test_every_late_name_is_found(name: str) -> None:
    assert getattr(torch, name) is getattr(torch, name)
    assert name not in torch.__all__


def test_late_names_cost_nothing_until_they_are_named() -> None:
    late = {*_RARE} - {"_C", "_utils", "tensors.face.storage"}
    code = ("import sys, retrograd\n"
            f"print([m for m in {sorted(late)!r} if 'retrograd.' + m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_handlers_receive_events() -> None:
    seen: list[Any] = []
    handle = monitor.register_event_handler(seen.append)
    event = monitor.Event("begun", datetime.now(), {"step": 1, "kind": "x"})
    monitor.log_event(event)
    monitor.unregister_event_handler(handle)
    monitor.log_event(event)
    assert seen == [event]
    assert event.data == {"step": 1, "kind": "x"}


def test_a_statistic_is_logged_when_its_window_ends() -> None:
    seen: list[Any] = []
    handle = monitor.register_event_handler(seen.append)
    kinds = [monitor.SUM, monitor.COUNT, monitor.MEAN, monitor.MAX, monitor.MIN]
    stat = monitor.Stat("a", kinds, timedelta(hours=1), 3)
    for value in (1, 5, 3, 9):
        stat.add(value)
    quick = monitor.Stat("b", [monitor.SUM], timedelta(0))
    quick.add(2)
    quick.add(3)
    del quick
    monitor.unregister_event_handler(handle)
    assert [event.data for event in seen] == [
        {"a.sum": 9.0, "a.count": 3.0, "a.mean": 3.0, "a.max": 5.0, "a.min": 1.0}, {"b.sum": 2.0}, {"b.sum": 3.0}]
    assert (stat.count, stat.get()[monitor.MEAN], {event.name for event in seen}) == (0, 3.0, {"torch.monitor.Stat"})


def test_statistics_reach_tensorboard() -> None:
    rows = []

    class Writer:
        def add_scalar(self, name: str, value: float, walltime: float) -> None:
            rows.append((name, value))

    handler = monitor.TensorboardEventHandler(Writer())
    handler(monitor.Event("torch.monitor.Stat", datetime.now(), {"a.sum": 1.0}))
    handler(monitor.Event("other", datetime.now(), {"b": 1.0}))
    assert rows == [("a.sum", 1.0)]


def test_streams_and_events_of_the_cpu() -> None:
    stream, event = torch.Stream(), torch.Event(enable_timing=True)
    with stream as entered:
        assert entered == torch.Stream("cpu")
    assert (stream.query(), event.query(), event.wait(stream)) == (True, True, None)
    with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
        event.record(stream)
    with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
        event.elapsed_time(event)
    with pytest.raises(RuntimeError, match="PyTorch is not linked with support for cuda devices"):
        torch.Stream("cuda")


@needs("scipy")
def test_sobol_points() -> None:
    engine = torch.quasirandom.SobolEngine(3)
    for count in (0, -1):
        with pytest.raises(RuntimeError, match=rf"negative dimension {count - 1}: \[{count - 1}, 3\]"):
            engine.draw(count)
    assert engine.draw(4).tolist() == [[0.0] * 3, [0.5] * 3, [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]]
    assert engine.draw(0).shape == (0, 3)
    assert engine.fast_forward(2).draw().tolist() == [[0.625, 0.125, 0.875]]
    with pytest.raises(ValueError, match="n to be a power of 2. 7 points have been previously generated"):
        engine.draw_base2(2)
    with pytest.raises(NotImplementedError, match="\"_sobol_engine_draw\" not implemented for 'Int'"):
        engine.draw(2, dtype=torch.int32)
    scrambled = torch.quasirandom.SobolEngine(2, scramble=True, seed=5)
    assert scrambled.draw(2).flatten().tolist() == pytest.approx([0.48029, 0.11726, 0.94984, 0.74304], abs=1e-4)
    assert repr(scrambled) == "SobolEngine(dimension=2, scramble=True, seed=5)"


def test_an_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats.qmc", None)
    with pytest.raises(ModuleNotFoundError, match="needs the package scipy. Install it: pip install"):
        torch.quasirandom.SobolEngine(2)


def test_ranges_of_known_numbers_are_checked() -> None:
    torch.sym_constrain_range(3, min=1, max=5)
    with pytest.raises(RuntimeError, match=r"Invalid value range for 3 between \[1, 2\]"):
        torch.sym_constrain_range(3.5, min=1, max=2)
    with pytest.raises(RuntimeError, match="Max value to constrain_range_for_size must be greater than 2"):
        torch.sym_constrain_range_for_size(1, max=2)


def test_names_of_the_export_refuse() -> None:
    with pytest.raises(NotImplementedError, match="PyTorch has `torch.export.export`; retrograd has not"):
        torch.export.export(None, ())
    with pytest.raises(RuntimeError, match="Cannot directly construct StorageBase"):
        torch.StorageBase()
