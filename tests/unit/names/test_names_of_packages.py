"""Names that packages for PyTorch import from it, without PyTorch: each answers as a PyTorch on a CPU does."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import retrograd as torch
from retrograd._subclasses.fake_tensor import is_fake
from retrograd._tensor_str import PRINT_OPTS, _tensor_str
from retrograd.fx.experimental.proxy_tensor import get_proxy_mode
from retrograd.utils.data._utils.worker import _generate_state


def test_old_types_stand_in_unions() -> None:
    assert get_args(torch.LongTensor | None) == (torch.LongTensor, type(None))
    assert get_args(None | torch.LongTensor) == (type(None), torch.LongTensor)
    assert get_args(torch.LongTensor | int) == (torch.LongTensor, int)


def test_the_seeds_of_numpy_in_a_worker() -> None:
    assert _generate_state(3, 1) == [4010755824, 4093133998, 1799442052, 773627024]
    assert _generate_state(3 + (5 << 32), 1) == [4192675621, 473213857, 3621595284, 3737177680]


def test_one_process_has_no_calls_between_processes() -> None:
    import retrograd.distributed as dist
    assert not dist.rpc.is_available()
    assert not dist.autograd.is_available()
    assert dist.constants.default_pg_timeout.total_seconds() == 1800


def test_optimizers_that_processes_share_have_a_class() -> None:
    from retrograd.distributed.optim import ZeroRedundancyOptimizer
    assert issubclass(ZeroRedundancyOptimizer, torch.optim.Optimizer)
    parameters = [torch.nn.Parameter(torch.ones(1))]
    assert not isinstance(torch.optim.SGD(parameters), ZeroRedundancyOptimizer)
    with pytest.raises(ValueError, match="^Default process group has not been initialized"):
        ZeroRedundancyOptimizer(parameters, torch.optim.SGD)


def test_reductions_have_the_type_of_their_members() -> None:
    from retrograd.distributed import ReduceOp
    assert repr(ReduceOp.SUM) == "<RedOpType.SUM: 0>"
    assert isinstance(ReduceOp.SUM, ReduceOp)
    assert type(ReduceOp.SUM) is ReduceOp.RedOpType
    assert ReduceOp(ReduceOp.MAX) == ReduceOp.MAX
    assert list(ReduceOp.RedOpType.__members__) == [
        "SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"]


def test_operators_by_the_names_of_the_core() -> None:
    add = torch.ops.aten.add
    assert (repr(add), str(add)) == ("<OpOverloadPacket(op='aten.add')>", "aten.add")
    assert add._qualified_op_name == "aten::add"
    overload = add.Tensor
    assert (repr(overload), str(overload)) == ("<OpOverload(op='aten.add', overload='Tensor')>", "aten.add.Tensor")
    assert (overload.name(), overload.__name__, overload.namespace) == ("aten::add.Tensor", "add.Tensor", "aten")
    assert torch.ops.aten.relu.default.name() == "aten::relu"
    assert overload is torch.ops.aten.add.Tensor
    assert overload.overloadpacket is overload._overloadpacket is add
    assert overload(torch.ones(1), torch.ones(1), alpha=2).tolist() == [3]
    assert torch.ops.aten.relu(torch.tensor([-1.0, 2.0])).tolist() == [0, 2]
    assert torch.ops.aten.linear(torch.ones(1, 2), torch.ones(3, 2)).tolist() == [[2, 2, 2]]
    assert torch.ops.aten.view.default(torch.ones(4), (2, 2)).shape == (2, 2)
    with pytest.raises(NotImplementedError, match="torch.ops.aten._pin_memory"):
        torch.ops.aten._pin_memory.default(torch.ones(1))


@pytest.mark.parametrize("shared", [False, True])
def test_a_storage_over_a_file(tmp_path: Path, shared: bool) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(16)))
    storage = torch.UntypedStorage.from_file(str(path), shared, 8)
    assert storage.nbytes() == 8
    assert storage.tolist() == [*range(8)]
    assert storage.untyped() is storage
    storage[3] = 99
    assert path.read_bytes()[3] == (99 if shared else 3)
    assert torch.asarray(storage[2:4], dtype=torch.uint8).tolist() == [2, 99]


def test_a_shared_file_grows_and_another_must_be_long_enough(tmp_path: Path) -> None:
    path = str(tmp_path / "bytes")
    with pytest.raises(RuntimeError, match=f"^unable to open file <{path}> in read-only mode: No such file "):
        torch.UntypedStorage.from_file(path, False, 3)
    assert torch.UntypedStorage.from_file(path, True, 3).tolist() == [0, 0, 0]
    assert os.path.getsize(path) == 3
    with pytest.raises(RuntimeError, match=f"^file <{path}> size <3> is smaller than the required mapping size <4>"):
        torch.UntypedStorage.from_file(path, False, 4)
    with pytest.raises(RuntimeError, match=f"^unable to mmap -3 bytes from file <{path}>: Cannot allocate memory"):
        torch.UntypedStorage.from_file(path, False, -3)
    assert torch.UntypedStorage.from_file(path).nbytes() == 0
    bad: Any = tmp_path
    with pytest.raises(TypeError, match="^argument 1 must be str, not "):
        torch.UntypedStorage.from_file(bad, False, 3)


def test_the_text_of_the_elements_and_the_options_of_printing() -> None:
    assert _tensor_str(torch.ones(2, 2), 0) == "[[1., 1.],\n [1., 1.]]"
    with torch.printoptions(threshold=7):
        assert PRINT_OPTS.threshold == 7
    assert PRINT_OPTS.threshold == 1000


def test_questions_of_compilers_and_devices() -> None:
    assert not is_fake(torch.ones(1))
    assert get_proxy_mode() is None
    assert torch.autograd.forward_ad.unpack_dual(torch.ones(1)).tangent is None
    assert type(torch.Tensor) is torch._C._TensorMeta
    assert "PyTorch built with" in torch.__config__.show()
    assert "at::get_num_threads()" in torch.__config__.parallel_info()
    assert torch.torch is torch
    assert torch.hub.HASH_REGEX.search("net-1a2b.pth").group(1) == "1a2b"
    with pytest.raises(RuntimeError, match="^torch.cuda.Stream requires CUDA support"):
        torch.cuda.Stream()
    with pytest.raises(RuntimeError, match="^Tried to instantiate dummy base class Event"):
        torch.cuda.Event()


def test_the_module_is_named_torch_while_it_stands_for_torch() -> None:
    program = """
import retrograd
with retrograd.as_torch():
    import torch
    from torch import nn, ops, futures
    print(torch.__name__)
print(retrograd.__name__)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["torch", "retrograd"]
