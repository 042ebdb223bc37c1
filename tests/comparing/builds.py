"""Comparisons that ask PyTorch about its build or about devices. Their answers are those of the build for CPUs.

PyTorch offers a build for CPUs. Where only a build for CUDA can be installed, and no GPU is there, the answers are
others: "Found no NVIDIA driver" instead of "not compiled with CUDA". So these comparisons are skipped there.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

PARITY = Path(__file__).parents[1] / "parity"

WHY = "asks about devices, and this PyTorch is the build for CUDA: install the build for CPUs"

# By file below tests/parity. A case has the name of its test, and its id or its parameter in brackets.
OF_THE_BUILD = {
    "docs/test_pages.py": {"test_a_program_does_the_same_in_pytorch[docs/use/mistakes.md:446]"},   # moves to a GPU
    "docs/test_reference_examples.py": {f"test_a_program_shows_the_same[{name}]" for name in (
        "torch.Tensor.cuda", "torch.Tensor.pin_memory", "torch.distributed.is_backend_available",
        "torch.distributed.is_nccl_available")},
    "names/test_library_names.py": {"test_questions_about_gpus_and_traces",
                                    "test_marks_of_the_profiler_of_graphics_cards"},
    "names/test_missing_names.py": {"test_the_table_is_up_to_date"},       # has no names of other builds
    "names/test_refused_calls.py": {"test_a_refused_call_has_pytorchs_message[c(2).to(5)]"},
    "tensors/test_sparse_refusals.py": {
        "test_a_refused_call_has_pytorchs_message[torch.eye(3).to_sparse().pin_memory()]"},
    "foundations/test_small_types.py": {"test_calls_of_small_types[t.Generator(1)]", *[
        f"test_small_objects_do_and_refuse_what_pytorch_s_do[{name}-type(x)(1)]"
        for name in ("Generator", "device", "device with a number")]},
    "distributed/test_distributed.py": {
        "test_no_group[0]", "test_no_group[17]",                           # which backends there are
        "test_without_gpus[6]"},                                           # replicas on the first GPU
    "names/test_rare_names.py": {f"test_what_is_exact[{expression}]" for expression in (
        "(repr(stream), repr(event), repr(torch.Event('cpu', enable_timing=True)))",
        "(stream.query(), stream.synchronize(), stream.is_capturing(), stream.wait_event(event), stream.device, "
        "stream.stream_id)",
        "(stream == torch.Stream('cpu'), hash(stream) == hash(torch.Stream()))",
        "stream.record_event()", "stream.wait_stream(stream)", "torch.Stream('cuda')", "torch.Stream(3)",
        "(event.query(), event.synchronize(), event.wait(), event.device, event.event_id)", "event.record()",
        "event.elapsed_time(event)", "torch.Event('cuda')", "torch.Event(enable_timing=3)")},
    "nn/test_attention_ways.py": {"test_switches"},                        # of kernels for CUDA
    "nn/test_module_state.py": {"test_a_program_says_the_same[conversion]"},                       # moves to a GPU
    "tensors/functions/test_creation.py": {
        "test_made[torch.zeros(2,device='cuda')]", "test_made[torch.arange(3,device='cuda')]"},
    "tensors/functions/test_small_functions.py": {
        "test_a_call_ends_as_in_pytorch[backends.cuda.is_flash_attention_available()]"},
    "nn/test_devices_of_modules.py": {f"test_devices_of_{kind}[{place}]" for kind in ("modules", "tensors")
                                      for place in ("none", "cuda", "cuda:1", "0")},
    "tensors/test_around_tensors.py": {f"test_it_is_as_in_pytorch[{expression}]" for expression in (
        "x.pin_memory()",
        "torch.backends.cudnn.is_available(), torch.backends.cudnn.version(), torch.backends.cudnn.benchmark",
        "torch.backends.mps.is_available(), torch.backends.mps.is_built(), torch.backends.cuda.is_built()",
        "torch.accelerator.is_available(), torch.accelerator.device_count(), torch.accelerator.current_accelerator()",
        "torch.accelerator.current_device_index()", "torch.accelerator.synchronize()", "torch.cuda.get_device_name(0)",
        "torch.cuda.get_device_properties(0)", "torch.version.cuda, torch.version.hip, torch.version.debug")},
    "tensors/test_data.py": {"test_same[t([1.],device='cuda')]", "test_same[t([1.],device=3)]"},
    "tensors/test_interop.py": {"test_same[x.to('cuda')]", "test_same[x.to(3)]", "test_same[x.cuda()]",
                                "test_same[h.cuda(0)]"},
}


def asks_about_devices(item: pytest.Function) -> bool:
    """Whether a test asks about the build or about devices, and the build is another one."""
    names = {item.name}
    if hasattr(item, "callspec"):
        names |= {f"{item.originalname}[{value}]" for value in item.callspec.params.values()}
    listed = OF_THE_BUILD.get(item.path.relative_to(PARITY).as_posix(), set())
    return torch.version.cuda is not None and not names.isdisjoint(listed)
