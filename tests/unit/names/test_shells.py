"""Names that only programs need: they can be imported and asked about, and a call says what retrograd lacks."""

from __future__ import annotations

import enum
import importlib
import subprocess
import sys

import pytest

import retrograd as torch
from retrograd.foundations import shells

ENTRIES = [(space, name) for space, row in shells.rows().items() for name in row if name]


@pytest.mark.parametrize("space", shells.rows())
def test_each_module_can_be_imported(space: str) -> None:
    module = importlib.import_module("retrograd" + space.removeprefix("torch"))
    assert all(hasattr(module, name) for name in shells.listed(space))


@pytest.mark.parametrize(("space", "name"), ENTRIES)
def test_what_stands_behind_a_name(space: str, name: str) -> None:
    found = getattr(importlib.import_module("retrograd" + space.removeprefix("torch")), name)
    assert found.__name__ == name
    if isinstance(found, type) and issubclass(found, enum.Enum):
        assert len(found) > 0
    else:
        with pytest.raises(NotImplementedError, match=rf"^PyTorch has `torch\.[\w.]*\b{name}`; retrograd has not"):
            found()


def test_bases() -> None:
    from retrograd.distributed.elastic.multiprocessing.errors import ChildFailedError
    from retrograd.distributed.fsdp import FSDPModule, FullyShardedDataParallel
    from retrograd.distributed.tensor import DTensor

    assert issubclass(DTensor, torch.Tensor)
    assert not isinstance(torch.ones(2), DTensor)
    assert issubclass(FullyShardedDataParallel, torch.nn.Module)
    assert FSDPModule.__bases__ == (object,)
    assert issubclass(ChildFailedError, Exception)


def test_one_object_under_several_names() -> None:
    from retrograd.distributed._tensor import DTensor, Shard
    from retrograd.distributed.fsdp import fully_shard
    from retrograd.distributed.fsdp.fully_sharded_data_parallel import fully_shard as same

    assert DTensor is torch.distributed.tensor.DTensor
    assert Shard is torch.distributed.tensor.Shard
    assert fully_shard is same


def test_a_module_without_a_file_has_a_hint_for_wrong_names() -> None:
    import retrograd.distributed.fsdp as fsdp

    with pytest.raises(AttributeError, match=r"^module 'torch.distributed.fsdp' has no attribute 'fully_shar'"):
        _ = fsdp.fully_shar
    assert not hasattr(fsdp, "__wrapped__")


def test_the_table_is_not_read_by_ordinary_programs() -> None:
    program = ("import retrograd as torch; torch.ones(2, requires_grad=True).sum().backward(); import sys; "
               "print('retrograd.foundations.shells' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "False\n"


def test_programs_import_them_as_torch() -> None:
    program = ("import retrograd; retrograd.as_torch(); import torch; import torch.distributed.fsdp.wrap as wrap; "
               "from torch.distributed.device_mesh import DeviceMesh; "
               "print(torch.distributed.device_mesh.DeviceMesh is DeviceMesh, torch.distributed.fsdp.wrap is wrap, "
               "hasattr(torch.cuda, 'CUDAGraph'))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "True True True\n"
