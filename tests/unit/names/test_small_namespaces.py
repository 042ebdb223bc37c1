"""Names of small namespaces: settings of files, streams of the CPU, products of groups, swapped optimizers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import retrograd as torch
from retrograd.nn import functional as F


def test_groups_of_rows_columns_and_sums() -> None:
    ends = torch.tensor([1, 3], dtype=torch.int32)
    rows, stack = torch.arange(12.).reshape(3, 4), torch.arange(32.).reshape(2, 4, 4)
    product = F.grouped_mm(rows, stack, offs=ends)
    assert torch.equal(product, torch.cat([rows[:1] @ stack[0], rows[1:] @ stack[1]]))
    ends = torch.tensor([3, 4], dtype=torch.int32)
    columns = rows.reshape(3, 4)
    assert torch.equal(F.grouped_mm(stack, stack[0], offs=ends),
                       torch.cat([stack[0] @ stack[0][:, :3], stack[1] @ stack[0][:, 3:]], dim=1))
    assert torch.equal(F.grouped_mm(columns, stack[1], offs=ends),
                       torch.stack([columns[:, :3] @ stack[1][:3], columns[:, 3:] @ stack[1][3:]]))
    assert F.grouped_mm(stack, stack).shape == (2, 4, 4)
    wide = torch.ones(2, 8, 8, dtype=torch.bfloat16)
    assert F.grouped_mm(wide, wide).tolist() == [[[8.0] * 8] * 8] * 2
    rows.requires_grad_()
    F.grouped_mm(rows, stack, offs=torch.tensor([1, 2], dtype=torch.int32)).sum().backward()
    assert rows.grad is not None
    assert rows.grad[2].tolist() == [0.0] * 4                    # the last row belongs to no group


@pytest.mark.parametrize(
    ("options", "said"),
    [({"offs": torch.tensor([1, 3])}, "Offsets have to be int32"), ({}, "Have to provide offsets"),
     ({"offs": torch.tensor([1, 2, 3], dtype=torch.int32)}, "matrix batch sizes have to match"),
     ({"offs": torch.tensor([1, 3], dtype=torch.int32), "bias": torch.ones(4)}, "Bias not supported yet")])
def test_wrong_groups_are_refused(options: Any, said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        F.grouped_mm(torch.ones(3, 4), torch.ones(2, 4, 4), **options)


def test_settings_of_files() -> None:
    files = torch.serialization
    assert (files.get_crc32_options(), files.get_default_load_endianness(), files.get_default_mmap_options()) == (
        True, None, 2)
    with files.set_default_mmap_options(1):
        assert files.get_default_mmap_options() == 1
    assert files.get_default_mmap_options() == 2
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        files.set_default_load_endianness(3)
    with pytest.raises(ValueError, match="but got 9"):
        files.set_default_mmap_options(9)
    assert repr(files.StorageType("FloatStorage")) == "StorageType(dtype=torch.float32)"
    with pytest.raises(KeyError, match="is not recognized"):
        files.StorageType("NoStorage")
    with pytest.raises(NotImplementedError, match="save the state_dict with its numbers"):
        files.skip_data().__enter__()


def test_streams_of_the_cpu_nest() -> None:
    cpu = torch.cpu
    before, mine = cpu.current_stream(), cpu.Stream()
    with cpu.stream(mine), cpu.stream(None):
        assert cpu.current_stream() is mine
    assert cpu.current_stream() is before
    assert cpu.Event().query()
    assert cpu.get_capabilities()["num_logical_cores"] >= 1


def test_an_accelerator_that_is_not_there_is_refused() -> None:
    for name in ("current_stream", "get_memory_info", "memory_stats", "max_memory_allocated", "empty_host_cache"):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            getattr(torch.accelerator, name)()
    with torch.accelerator.device_index(None), pytest.raises(RuntimeError, match="none is available"):
        torch.accelerator.device_index(0).__enter__()


def test_a_swapped_optimizer_gets_its_own_back() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([weight], lr=0.5)
    weight.grad = torch.ones(2)
    optimizer.step()
    other = torch.zeros(2)
    other.grad = torch.ones(2)
    saved = optimizer.state_dict()
    swapped = torch.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, saved)
    with swapped:
        optimizer.step()
        assert optimizer.state[other]["step"].item() == 2
    assert optimizer.param_groups[0]["params"] == [weight]
    assert [*optimizer.state] == [weight]
    with pytest.raises(RuntimeError, match="to be a dict mapping packed parameter ids"):
        torch.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, {}).__enter__()


def test_settings_without_meaning_are_accepted_or_refused_as_in_pytorch() -> None:
    with torch.autograd.set_multithreading_enabled(False), torch.autograd.enforce_grad_layout_policy():
        assert torch.is_grad_enabled()
    with pytest.raises(RuntimeError, match="can only be used inside a torch.compile region"):
        torch.autograd.graph.region_activation_memory_budget(0.5)
    with pytest.raises(ValueError, match="must be in"):
        torch.autograd.graph.region_activation_memory_budget(5)
    with pytest.raises(TypeError, match="must be either a function or a list of ops"):
        torch.utils.checkpoint.create_selective_checkpoint_contexts(3)  # type: ignore[arg-type]


def test_a_selective_checkpoint_gives_the_same_numbers() -> None:
    x = torch.arange(3.).requires_grad_()
    contexts = partial(torch.utils.checkpoint.create_selective_checkpoint_contexts,
                       lambda *args: torch.utils.checkpoint.CheckpointPolicy.MUST_SAVE)
    torch.utils.checkpoint.checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False,
                                      context_fn=contexts).sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, (x.sin().exp() * x.cos()).detach())


def test_the_module_of_a_device() -> None:
    assert torch._utils._get_device_module("cpu") is torch.cpu
    assert torch._utils._get_available_device_type() is None
    with pytest.raises(RuntimeError, match="^Device 'none' does not have a corresponding module registered as 'torch"):
        torch._utils._get_device_module("none")
