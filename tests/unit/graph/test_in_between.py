"""Finalizers and handlers of signals may call the package at any line, also where a lock is held."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import faulthandler, sys
faulthandler.dump_traceback_later(40, exit=True)
import retrograd as torch
from retrograd.autograd import anomaly_mode
from retrograd.autograd.graph import edges, register_multi_grad_hook
from retrograd.tensors.recording import nodes
from retrograd.tensors.state import dispatch
from retrograd.kernels.native import threads

a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
def both():
    with torch.enable_grad():
        (a * b).sum().backward()
def anomaly():
    with torch.autograd.detect_anomaly(check_nan=False):
        pass
def watched():
    dispatch.DISPATCH.watch(1)
    dispatch.DISPATCH.watch(-1)
def made():
    nodes.class_of.cache_clear()
    nodes._classes.clear()
    assert nodes.class_of(torch.ops_) is nodes.class_of(torch.ops_)
def crew():
    threads._Crew.helpers = ()
    for helper in threads._Crew.idle(2):
        helper.free.release()
    assert len(threads._Crew.helpers) >= 2
from retrograd.ops.basic import clone
torch.ops_ = clone
CASES = {{"all": (edges, both), "any": (edges, both), "anomaly": (anomaly_mode, anomaly),
          "dispatch": (dispatch, watched), "classes": (nodes, made), "threads": (threads, crew)}}
module, call = CASES[{case!r}]
if {case!r} in ("all", "any"):
    seen = []
    register_multi_grad_hook([a, b], lambda given: seen.append(1), mode={case!r})

def run(at):
    lines = [0]
    def line(frame, event, value):
        if event == "line":
            lines[0] += 1
            if lines[0] == at:
                sys.settrace(None)
                call()
        return line
    sys.settrace(lambda frame, event, value: line if frame.f_code.co_filename == module.__file__ else None)
    call()
    sys.settrace(None)
    return lines[0]
for at in range(1, run(-1) + 1):
    run(at)
assert dispatch.DISPATCH.inert
print("over")
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ["all", "any", "anomaly", "dispatch", "classes", "threads"])
def test_a_call_in_between(case: str) -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM.format(case=case)], capture_output=True,
                          text=True, check=False, timeout=60)
    assert done.stdout == "over\n", done.stderr
