"""The tools around a computation do the same with both packages."""

import pytest

from comparing.programs import OURS, printed, same
from programs.launched import free_port


def test_pytrees_are_taken_apart_in_the_same_way() -> None:
    same("pytrees.py", lines=100)


def test_windows_of_signals_are_the_same() -> None:
    same("signal_windows.py", lines=200)


def test_processes_share_tensors_and_fail_in_the_same_way() -> None:
    same("processes.py", lines=17)


@pytest.mark.parametrize("count", [2, 3])
def test_spawned_processes_train_the_same_model(count: int) -> None:
    ours, theirs = [printed("spawned.py", *options, arguments=(str(count), "none", free_port()))
                    for options in (OURS, ())]
    assert len(ours) == count
    assert ours == theirs


def test_profiles_of_training_loops_take_the_same_steps() -> None:
    same("training_profiles.py", lines=140)


def test_files_for_tensorboard_hold_the_same_events() -> None:
    same("tensorboard_events.py", lines=240)


def test_tables_of_measured_times_are_the_same() -> None:
    same("benchmark_tables.py", lines=2700)


def test_the_same_floating_point_operations_are_counted() -> None:
    same("flop_counts.py", lines=45)
