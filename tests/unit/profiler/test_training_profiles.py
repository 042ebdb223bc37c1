"""Profiles of training loops: facts taken from PyTorch 2.13."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd.profiler import ProfilerAction, ProfilerActivity, profile, schedule, tensorboard_trace_handler

pytestmark = pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")


def loop(steps: int, **options: Any) -> tuple[profile, list[Any]]:
    """A profile of a loop, and what it saw at the end of each cycle."""
    seen: list[Any] = []
    with profile(on_trace_ready=lambda prof: seen.append((prof.step_num, counts(prof))), **options) as prof:
        for _ in range(steps):
            torch.ones(2) * 2
            prof.step()
    return prof, seen


def counts(prof: profile) -> dict[str, int]:
    return {event.key: event.count for event in prof.key_averages()}


def test_a_schedule_repeats_its_cycle() -> None:
    action = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    assert "".join(action(step).name[0] + str(action(step).value) for step in range(10)) == "N0N0W1R2R3N0W1R2R3N0"
    action = schedule(wait=2, warmup=1, active=1, skip_first_wait=1)
    assert [action(step).value for step in range(6)] == [1, 3, 0, 0, 1, 3]


def test_only_the_active_steps_are_recorded() -> None:
    _, seen = loop(8, schedule=schedule(wait=1, warmup=1, active=2, repeat=2), acc_events=False)
    assert seen == [(4, {"ProfilerStep*": 2, "aten::ones": 2, "aten::mul": 2})] * 1 + [
        (8, {"ProfilerStep*": 2, "aten::ones": 2, "aten::mul": 2})]
    prof, seen = loop(4, schedule=schedule(wait=0, warmup=1, active=1), acc_events=True)
    assert [step for step, _ in seen] == [2, 4]
    assert counts(prof) == {"ProfilerStep*": 2, "aten::ones": 2, "aten::mul": 2}
    assert [event.trace_name for event in prof.events() if event.is_user_annotation] == [
        "ProfilerStep#3", "ProfilerStep#1"]
    assert loop(3)[1] == [(3, {"aten::ones": 3, "aten::mul": 3})]


def test_wrong_schedules() -> None:
    with pytest.warns(UserWarning, match="Profiler won't be using warmup, this can skew profiler results"):
        schedule(wait=1, warmup=0, active=1)
    with pytest.raises(AssertionError, match=r"Invalid profiler schedule arguments\. Got wait=1 .*active=0"):
        schedule(wait=1, warmup=1, active=0)
    for actions, sentence in (([1, 0, 0], "WARMUP followed by NONE"), ([2, 0, 0], "RECORD followed by NONE"),
                              ([2, 1, 0], "RECORD followed by WARMUP")):
        with pytest.warns(UserWarning, match=f"Incorrect schedule: {sentence}"):
            loop(1, schedule=lambda step, actions=actions: ProfilerAction(actions[step]))
    with pytest.raises(ValueError, match="DEVICE_STOPPED is set internally by the profiler"):
        profile(schedule=lambda step: ProfilerAction.DEVICE_STOPPED)


def test_a_profile_before_it_has_begun() -> None:
    prof = profile()
    with pytest.raises(AssertionError, match="Profiler must be initialized before getting key averages"):
        prof.key_averages()
    with pytest.raises(AssertionError, match="Profiler must be initialized before stopping trace"):
        prof.stop()
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=[])
    with pytest.raises(AssertionError, match="No activities specified for the profiler"), pytest.warns(
            UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        profile(activities=[ProfilerActivity.CUDA]).start()
    with pytest.raises(ValueError, match=r"Activity ProfilerActivity\.CPU specified more than once"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CPU])
    with pytest.raises(RuntimeError, match="retrograd draws no memory over time"):
        prof.export_memory_timeline("x")


def test_a_trace_has_the_metadata(tmp_path: Path) -> None:
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path), "me"), record_shapes=True) as prof:
        torch.ones(2)
        prof.add_metadata("key", 'a "text"')
        prof.add_metadata_json("list", "[1]")
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("me.")
    assert path.name.endswith(".pt.trace.json")
    trace = json.loads(path.read_text())
    assert (trace["key"], trace["list"], trace["record_shapes"]) == ('a "text"', [1], 1)
    assert [event["name"] for event in trace["traceEvents"]] == ["aten::ones"]


def test_stacks_are_empty(tmp_path: Path) -> None:
    with profile(with_stack=True) as prof:
        torch.ones(2)
    prof.export_stacks(str(tmp_path / "stacks"))
    assert (tmp_path / "stacks").read_text() == ""
    with pytest.raises(ValueError, match="metric should be one of: "):
        prof.export_stacks(str(tmp_path / "stacks"), "count")
    with profile() as prof:
        torch.ones(2)
    with pytest.raises(AssertionError, match=r"export_stacks\(\) requires with_stack=True"):
        prof.export_stacks(str(tmp_path / "stacks"))


def test_memory_and_operations_are_counted() -> None:
    functional, ones = torch.nn.functional, torch.ones
    with profile(profile_memory=True, with_flops=True) as prof:
        x = ones(4, 3)
        x @ x.t()
        functional.conv2d(ones(2, 4, 8, 7), ones(6, 2, 3, 3), groups=2, padding=1, stride=2, dilation=2)
        functional.conv_transpose2d(ones(2, 4, 8, 8), ones(4, 6, 3, 3))
        x + 1
        x.mul_(2)
    found = [(event.name, event.cpu_memory_usage, event.flops) for event in prof.events() if event.name != "aten::ones"]
    assert found == [("aten::t", 0, 0), ("aten::matmul", 64, 0), ("aten::mm", 64, 96), ("aten::convolution", 432, 3888),
                     ("aten::convolution", 4800, 0), ("aten::add", 48, 12), ("aten::mul_", 0, 0)]
    assert [event.self_cpu_memory_usage for event in prof.events() if event.name == "aten::matmul"] == [0]
    assert prof.key_averages().table().split("\n")[1].endswith("Self CPU Mem    # of Calls   Total FLOPs  ")


def test_recording_can_pause() -> None:
    prof = profile()
    prof.start()
    torch.ones(2)
    prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
    torch.zeros(2)
    prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
    torch.ones(2)
    prof.stop()
    assert counts(prof) == {"aten::ones": 2}


def test_marks_for_other_tools() -> None:
    profiler = torch.autograd.profiler
    with profiler.emit_itt(), profiler.emit_nvtx(enabled=False):
        pass
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"), profiler.emit_nvtx():
        pass
    with pytest.raises(RuntimeError, match="retrograd does not read profiles of nvprof"):
        profiler.load_nvprof("x")
    steps = profiler.KinetoStepTracker
    begin = steps.current_step()
    counted = [steps.increment_step("a"), steps.increment_step("a"), steps.increment_step("b")]
    assert [step - begin for step in counted] == [1, 2, 3]
    assert (steps.current_step() - begin, steps.erase_step_count("a"), steps.erase_step_count("zz")) == (3, True, False)
    steps.erase_step_count("b")
