"""What the events of a profile answer, and what wrong calls of profiles raise, here and in PyTorch."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch as theirs

import retrograd as ours

EXPRESSIONS = """
[(e.key, e.input_shapes) for e in profile(with_flops=True).key_averages(group_by_input_shape=True) if "mul" in e.key]
profile().function_events.supported_export_stacks_metrics()
profile(with_stack=True).export_stacks("unused", "x")
profile().key_averages().key_averages()
profile().total_average().key
[(e.stack, e.overload_name, e.use_device, e.node_id, str(e.device_type)) for e in profile().key_averages()][0]
[(e.name, e.scope, e.is_user_annotation, e.activity_type) for e in marked() if e.name in ("block", "SumBackward0")]
sorted(vars(profile().key_averages()[0]))
sorted(vars(event))
[each for each in dir(event) if each[0] != "_"], [each for each in dir(profile().key_averages()[0]) if each[0] != "_"]
event.kernels, event.concrete_inputs, event.kwinputs, event.event_metadata, event.metadata_json, event.count
event.is_async, event.is_remote, event.is_legacy, event.is_python_function, event.flow_id, event.flow_start
event.structured_input_shapes, event.structured_input_strides, event.input_dtypes, event.python_id, event.fwd_thread
event.device_time_total, event.self_device_time_total, event.device_time, event.device_time_str, event.device_index * 0
event.cuda_time, event.cuda_time_total, event.self_cuda_time_total, event.self_cuda_memory_usage
profile().key_averages()[0].cuda_time, profile().key_averages()[0].self_device_time_total_str
profile().key_averages()[0].cuda_time_total
profile().key_averages()[0].add(3)
event.append_cpu_child(3)
event.set_cpu_parent(3)
type(event.time_range).__name__, vars(event.time_range).keys()
P.profile().get_trace_id(), A.profile().trace_id
P.profile(activities=[])
P.profile(activities=[{}])
P.profile(activities=["CPU"])
P.profile(activities=[P.ProfilerActivity.CPU, "CPU"])
P.profile(activities=[P.ProfilerActivity.CPU] * 2)
[P.profile(activities=[P.ProfilerActivity.CPU, each]).use_device for each in OTHERS]
A.profile(use_device="mtia")
A.profile(use_device="privateuseone").use_device
A.profile(use_device="xpu").use_device
P.record_function(3).__enter__()
P.record_function("a", 3).__enter__()
P.record_function("a").__exit__(None, None, None)
[getattr(P.record_function("a", "b"), each) for each in ("name", "args", "run_callbacks_on_exit", "record")]
steps(), steps(acc_events=True)
tracker()
listed()
"""


class Names(dict[str, Any]):
    """The names of an expression for one package."""

    def __init__(self, torch: Any, folder: Path) -> None:
        self.torch, self.folder = torch, folder
        activity = torch.profiler.ProfilerActivity
        super().__init__(
            P=torch.profiler, A=torch.autograd.profiler, profile=self.profile, marked=self.marked, steps=self.steps,
            tracker=self.tracker, listed=self.listed, event=self.profile().function_events[0],
            OTHERS=[activity.CUDA, activity.XPU, activity.MTIA, activity.HPU, activity.PrivateUse1])

    def profile(self, **options: Any) -> Any:
        with self.torch.autograd.profiler.profile(**options) as made:
            x = self.torch.ones(3, 3)
            x * 2
            x @ x
        return made

    def marked(self) -> Any:
        with self.torch.profiler.profile() as made, self.torch.profiler.record_function("block"):
            self.torch.ones(3, requires_grad=True).sum().backward()
        return made.events()

    def steps(self, **options: Any) -> Any:
        """The events of steps, of which the last have other operators."""
        schedule = self.torch.profiler.schedule(wait=0, warmup=1, active=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.torch.profiler.profile(schedule=schedule, **options) as made:
                for step in range(5):
                    (self.torch.ones if step < 2 else self.torch.zeros)(2)
                    made.step()
        return [e.name for e in made.events() if e.cpu_parent is None or "Step" in e.cpu_parent.name]

    def tracker(self) -> int:
        count = self.torch.autograd.profiler.KinetoStepTracker.current_step
        before: int = count()
        self.steps()
        return count() - before

    def listed(self) -> Any:
        path = self.folder / "trace"
        self.profile().function_events.export_chrome_trace(str(path))
        trace = json.loads(path.read_text())
        return type(trace).__name__, sorted(trace[0]), trace[0]["name"], trace[0]["pid"], trace[0]["ph"]


def outcome(torch: Any, expression: str, folder: Path) -> list[str]:
    names = Names(torch, folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = repr(eval(expression, names))
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
    said = [f"{each.category.__name__}: {each.message}" for each in caught if each.category is not ResourceWarning]
    return [re.sub(r"0x\w+", "", found), *said]


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().split("\n"))
def test_events_and_wrong_calls(expression: str, tmp_path: Path) -> None:
    assert outcome(ours, expression, tmp_path) == outcome(theirs, expression, tmp_path)
