"""A program that profiles training loops, and prints what does not depend on the time, to compare with PyTorch."""

import gzip
import json
import os
import tempfile
import warnings

import torch
from torch.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

warnings.simplefilter("always")
warnings.showwarning = lambda message, category, *rest: print("WARNING", category.__name__, message)
BOTH = ("ProfilerStep*", "aten::ones", "aten::add", "aten::mm", "block")
NONE, WARMUP, RECORD, SAVE, STOPPED = ProfilerAction


class Loud(profile):
    def prepare_trace(self):
        print("  prepare")
        super().prepare_trace()

    def start_trace(self):
        print("  start")
        super().start_trace()

    def stop_trace(self):
        print("  stop")
        super().stop_trace()


def keys(prof):
    return [(event.key, event.count, event.is_user_annotation) for event in prof.key_averages() if event.key in BOTH]


def ready(prof):
    print("  ready", prof.step_num, prof.current_action, keys(prof))


def run(steps, **options):
    print(steps, [name for name in options if name != "schedule"])
    with Loud(on_trace_ready=ready, **options) as prof:
        for i in range(steps):
            torch.ones(2) + i
            prof.step()
    print(keys(prof), prof.step_num)


def say(call):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, str(error).partition(". ")[0])


run(3)
run(8, schedule=schedule(wait=1, warmup=1, active=2, repeat=2))
run(4, schedule=schedule(wait=0, warmup=0, active=1))
run(3, schedule=schedule(wait=0, warmup=0, active=2))
run(4, schedule=schedule(wait=1, warmup=1, active=2, skip_first=1))
run(6, schedule=schedule(wait=1, warmup=1, active=1, skip_first=1, skip_first_wait=1))
run(1, schedule=schedule(wait=0, warmup=2, active=2))
run(4, schedule=schedule(wait=0, warmup=1, active=1), acc_events=True)
run(3, schedule=lambda step: [SAVE, SAVE, RECORD, NONE][step])
run(2, schedule=lambda step: [WARMUP, NONE, NONE][step])
for wait, warmup, active, repeat, skip, first in [(1, 2, 3, 0, 0, 0), (0, 1, 1, 2, 3, 0), (2, 1, 2, 2, 1, 1),
                                                 (0, 1, 4, 1, 0, 1), (3, 1, 1, 0, 2, 5)]:
    action = schedule(wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip, skip_first_wait=first)
    print([action(step).name for step in range(16)])

for wrong in ({"wait": -1}, {"warmup": -1}, {"active": 0}, {"repeat": -1}, {"skip_first": -1}):
    say(lambda wrong=wrong: schedule(**{"wait": 1, "warmup": 1, "active": 1, **wrong}))
say(lambda: schedule(wait=1, warmup=1, active=1)(-1))
say(lambda: profile(activities=[]))
say(lambda: profile(activities=[3]))
say(lambda: profile(activities=[ProfilerActivity.CPU] * 2))
say(lambda: profile(activities=[ProfilerActivity.CUDA]).start())
say(lambda: profile(schedule=lambda step: STOPPED))
prof = profile()
for call in (prof.key_averages, prof.events, lambda: prof.export_chrome_trace("x"), lambda: prof.export_stacks("x"),
             prof.start_trace, prof.stop_trace, prof.stop, prof.get_trace_id,
             lambda: prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU]), lambda: prof.profiler):
    say(call)

CPU = ProfilerActivity.CPU
print(supported_activities(), CPU, repr(CPU), int(ProfilerActivity.CUDA), CPU == 0, CPU.name, CPU.value)
print(torch.profiler.kineto_available(), torch.autograd.kineto_available(), torch.autograd.ProfilerActivity.CPU)
print([*ProfilerAction], [*ProfilerActivity.__members__] and int(torch.profiler.DeviceType.PrivateUse1))

with profile(activities=[CPU], record_shapes=True, profile_memory=True, with_flops=True) as prof:
    x = torch.ones(4, 3)
    y = x + x
    with record_function("block"):
        z = x @ y.t()
    x.mul_(2)
    torch.baddbmm(torch.ones(2, 3, 5), torch.ones(2, 3, 4), torch.ones(2, 4, 5))
    torch.addmm(torch.ones(5), torch.ones(3, 4), torch.ones(4, 5))
    x * x, x.exp()
for event in prof.key_averages():
    if event.key in (*BOTH, "aten::mul", "aten::mul_", "aten::baddbmm", "aten::addmm", "aten::exp"):
        print(event.key, event.count, event.cpu_memory_usage, event.flops)
table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=1).splitlines()
print(table[1].split(), table[-1].partition(":")[0])

with tempfile.TemporaryDirectory() as folder:
    with profile(on_trace_ready=tensorboard_trace_handler(folder, "worker", use_gzip=True), with_stack=True) as prof:
        torch.ones(2)
        prof.add_metadata("key", "a text")
        prof.add_metadata_json("list", "[1, 2]")
    (name,) = os.listdir(folder)
    print(name.split(".")[0], name.split(".")[2:])
    with gzip.open(os.path.join(folder, name)) as file:
        trace = json.load(file)
    print(trace["key"], trace["list"], trace["schemaVersion"], trace["displayTimeUnit"], len(trace["trace_id"]))
    print(any(event["name"] == "aten::ones" and event["cat"] == "cpu_op" for event in trace["traceEvents"]
              if "cat" in event))
    say(lambda: prof.export_stacks(os.path.join(folder, "stacks")))
    say(lambda: prof.export_stacks(os.path.join(folder, "stacks"), "nonsense"))
    say(lambda: tensorboard_trace_handler(os.path.join(os.devnull, "x"))(prof))

prof = profile()
prof.start()
torch.ones(2)
prof.toggle_collection_dynamic(False, [CPU])
torch.ones(2)
prof.toggle_collection_dynamic(True, [CPU])
torch.ones(2)
prof.stop()
print(keys(prof))
