"""Methods for Python's operators, called by their names, end as in PyTorch: also with a tensor on the other side."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
import torch

import retrograd

OPERATORS = ["add", "sub", "mul", "truediv", "div", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or",
             "xor"]
NAMES = [f"__{prefix}{name}__" for name in OPERATORS for prefix in ("", "r", "i")]
OTHERS = ["2", "-2.5", "2**70", "-2**63 - 1", "True", "floats", "ints", "square", "wanting", "'x'", "None", "[1, 2]"]


def _end(library: ModuleType, name: str, of: str, other: str) -> str:
    torch = library
    space = {"floats": torch.tensor([5., -7.]), "ints": torch.tensor([3, 2]), "own": torch.tensor([1., 2.]),
             "square": torch.tensor([[1., 2.], [3., 4.]]), "wanting": torch.tensor([2., 3.], requires_grad=True)}
    method = getattr(space[of].clone(), name, None)
    try:
        found = method(eval(other, space))  # type: ignore[misc]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if found is NotImplemented or found.grad_fn is None:
        return repr(found)
    return f"{found!r} {[next[0] and next[0].name() for next in found.grad_fn.next_functions]}"


@pytest.mark.parametrize("of", ["own", "ints", "square"])
@pytest.mark.parametrize("name", NAMES)
def test_a_method_of_an_operator_ends_as_in_pytorch(name: str, of: str) -> None:
    assert hasattr(retrograd.Tensor, name) == hasattr(torch.Tensor, name)
    for other in OTHERS:
        assert _end(retrograd, name, of, other).replace("retrograd", "torch") == _end(torch, name, of, other), other


@pytest.mark.parametrize("library", [torch, retrograd])
def test_elements_cannot_be_deleted(library: ModuleType) -> None:
    x = library.ones(2)
    with pytest.raises(TypeError, match="^Tensor does not support deleting items$"):
        del x[0]
    assert len(x) == 2


@pytest.mark.parametrize("library", [torch, retrograd])
def test_the_hash_of_a_tensor_is_its_identity(library: ModuleType) -> None:
    x = library.ones(2)
    assert hash(x) == id(x)
    assert {x: 1}[x] == 1
    assert library.ones(2) not in {x: 1}


@pytest.mark.parametrize("library", [torch, retrograd])
def test_names_of_python_2_remain(library: ModuleType) -> None:
    assert library.tensor(3.5).__long__() == 3
    assert (library.tensor([0]).__nonzero__(), library.tensor(2).__nonzero__()) == (False, True)
    with pytest.raises(RuntimeError, match="^Boolean value of Tensor with more than one value is ambiguous"):
        library.ones(2).__nonzero__()


@pytest.mark.parametrize("name", [
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "float_power", "copysign", "maximum",
    "atan2", "bitwise_and", "bitwise_left_shift", "clamp_min", "rsub", "matmul", "eq"])
def test_functions_refuse_arrays(name: str) -> None:
    """Python's operators take arrays, and functions do not."""
    array = np.ones((2, 2), np.int64)
    for arguments in ((0, 1), (1, 0)):
        said = []
        for package in (torch, retrograd):
            operands = (package.ones(2, 2, dtype=package.int64), array)
            with pytest.raises(TypeError) as caught:
                getattr(package, name)(*[operands[i] for i in arguments])
            said.append(str(caught.value).split(", but expected")[0])
        assert said[0] == said[1].removesuffix(". Make one with torch.tensor(...).")


@pytest.mark.parametrize("name", ["add", "mul", "div_", "pow", "add_", "bitwise_or"])
def test_methods_refuse_arrays(name: str) -> None:
    for package in (torch, retrograd):
        x = package.ones(2, dtype=package.int64 if name == "bitwise_or" else package.float32)
        with pytest.raises(TypeError, match=rf"^{name}\(\)"):
            getattr(x, name)(np.ones(2))
        assert x.tolist() == [1, 1]
