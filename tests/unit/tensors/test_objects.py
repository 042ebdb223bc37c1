"""Tensors as Python objects: copies, pickles, weak references, and what Python asks of an object."""

import copy
import operator
import pickle
import re
import weakref
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.foundations.dtypes import ALL

nn = torch.nn


def pickled(obj: Any, protocol: int = 4) -> Any:
    return pickle.loads(pickle.dumps(obj, protocol))


# Copies


def test_a_shallow_copy_is_a_leaf_on_the_same_memory() -> None:
    x = torch.ones(2, requires_grad=True)
    x.note, x.grad = [1], torch.ones(2)
    twin = copy.copy(x)
    assert twin is not x
    assert twin.data_ptr() == x.data_ptr()
    assert twin.requires_grad
    assert twin.grad is None
    assert twin.note is x.note
    computed = copy.copy(x * 2)
    assert computed.is_leaf
    assert computed.requires_grad
    assert copy.copy(x[0:1])._base is None
    parameter = nn.Parameter(torch.ones(1))
    parameter.note = 1
    assert type(copy.copy(parameter)) is nn.Parameter
    assert copy.copy(parameter).note == 1


def test_deep_copies() -> None:
    x = torch.ones(2, requires_grad=True)
    x.note, x.grad = [1], torch.ones(2)
    x.register_hook(lambda g: g * 100)
    twin = copy.deepcopy(x)
    assert twin.data_ptr() != x.data_ptr()
    assert twin.grad.tolist() == [1, 1]
    assert twin.grad is not x.grad
    assert twin.note == [1]
    assert twin.note is not x.note
    (twin * 3).sum().backward()
    assert twin.grad.tolist() == [4, 4]              # hooks stay behind
    first, second = copy.deepcopy([x, x])
    assert first is second
    for computed in (x * 2, x[0:1]):
        with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user .graph leaves. support"):
            copy.deepcopy(computed)
    with torch.no_grad():
        assert copy.deepcopy(x[0:1]).requires_grad


def test_a_deep_copy_keeps_shared_memory_shared() -> None:
    whole = torch.arange(6.)
    twins = copy.deepcopy({"whole": whole, "part": whole[2:4], "across": whole.view(2, 3).t()})
    twins["part"].zero_()
    assert twins["whole"].tolist() == [0, 1, 0, 0, 4, 5]
    assert twins["across"].tolist() == [[0, 0], [1, 4], [0, 5]]
    assert twins["across"].stride() == (1, 3)
    assert twins["part"]._base is None
    assert whole.sum() == 15


def test_deep_copies_of_parameters_modules_and_optimizers() -> None:
    layer = nn.Linear(2, 1)
    layer.weight.note = 1
    layer(torch.ones(2)).backward()
    twin = copy.deepcopy(layer)
    assert not hasattr(twin.weight, "note")          # as in PyTorch: of a parameter, values alone
    assert twin.weight.grad is None
    tied = nn.ModuleList([layer, layer])
    both = copy.deepcopy(tied)
    assert both[0] is both[1]
    optimizer = torch.optim.Adam(layer.parameters())
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    optimizer.step()
    assert state["state"][0]["step"].item() == 1


# Pickles


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_pickles_of_every_type(dtype: Any, protocol: int) -> None:
    for tensor in (torch.ones(2, 3, dtype=dtype), torch.tensor(1, dtype=dtype), torch.empty(0, 3, dtype=dtype)):
        twin = pickled(tensor, protocol)
        assert type(twin) is torch.Tensor
        assert (twin.dtype, twin.shape, twin.tolist()) == (dtype, tensor.shape, tensor.tolist())
        twin.zero_()                                 # its memory can be written to


@pytest.mark.parametrize("tensor", [
    torch.arange(6.).view(2, 3).t(), torch.arange(10.)[1::3], torch.ones(1).expand(3, 4), torch.arange(24.).view(
        2, 3, 4).permute(2, 0, 1)[1:]])
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_keep_strides(tensor: Any, protocol: int) -> None:
    twin = pickled(tensor, protocol)
    assert twin.stride() == tensor.stride()
    assert torch.equal(twin, tensor)


@pytest.mark.parametrize("tensor", [
    torch.arange(6.).view(2, 3).t(), torch.ones(1).expand(3)[0], torch.ones(1).expand(1, 1)])
def test_pickles_of_memory_that_is_read_only_can_be_written_to(tensor: Any) -> None:
    apart: list[Any] = []
    small = pickle.dumps(tensor, 5, buffer_callback=apart.append)
    for twin in (pickled(tensor, 5), pickle.loads(small, buffers=[bytes(each) for each in apart])):
        twin += 1
        assert torch.equal(twin, tensor + 1)


def test_pickles_keep_what_is_the_tensors_own() -> None:
    x = torch.ones(2, requires_grad=True)
    x.note, x.grad = {"a": 1}, torch.ones(2)
    x.register_hook(lambda g: g)
    for tensor in (x, x * 1):
        twin = pickled(tensor)
        assert twin.requires_grad
        assert twin.is_leaf
        assert twin.grad is None
    assert pickled(x).note == {"a": 1}
    parameter = nn.Parameter(torch.ones(1), requires_grad=False)
    parameter.note = 2
    twin = pickled(parameter)
    assert type(twin) is nn.Parameter
    assert not twin.requires_grad
    assert twin.note == 2
    assert type(pickled(nn.Buffer(torch.ones(1)))) is torch.Tensor


def test_each_tensor_has_a_number() -> None:
    x = torch.ones(2)
    assert type(x._cdata) is int
    assert x._cdata == x._cdata
    assert x._cdata != x.detach()._cdata


def test_sizes_are_ints() -> None:
    three, one = torch.tensor(3), torch.Size([np.int32(1)])
    assert torch.Size([three, np.int32(2), True]) == (3, 2, 1)
    for joined in (torch.Size([three]), operator.add(one, (three,)), operator.add((three,), one)):
        assert type(joined) is torch.Size
        assert all(type(size) is int for size in joined)
    for wrong, place, kind in (([1.5], 0, "float"), ([1, torch.tensor(3.)], 1, "Tensor"), ("a", 0, "str"),
                               ([np.array([3])], 0, "numpy.ndarray"), ([torch.Size([1])], 0, "torch.Size")):
        message = re.escape(f"torch.Size() takes an iterable of 'int' (item {place} is '{kind}')")
        with pytest.raises(TypeError, match=f"^{message}$"):
            torch.Size(wrong)
    with pytest.raises(TypeError, match=r"^can only concatenate tuple \(not list\) to torch.Size$"):
        operator.add(one, [2])


def test_pickles_of_what_is_around_tensors() -> None:
    assert pickled(torch.float16) is torch.float16
    assert pickled(torch.strided) is torch.strided
    assert type(pickled(torch.Size([1, 2]))) is torch.Size
    assert pickled(torch.device("cpu")) == torch.device("cpu")
    generator = torch.Generator().manual_seed(5)
    assert torch.equal(torch.rand(3, generator=pickled(generator)), torch.rand(3, generator=generator))
    assert pickled(torch.ones(2).max(0)).values.item() == 1
    layer = nn.Linear(2, 1)
    assert torch.equal(pickled(layer).weight, layer.weight)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1, momentum=0.9)
    layer(torch.ones(2)).backward()
    optimizer.step()
    assert torch.equal(pickled(optimizer.state_dict())["state"][0]["momentum_buffer"], layer.weight.grad)


def test_a_graph_is_neither_copied_nor_pickled() -> None:
    y = torch.ones(1, requires_grad=True) * 2
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'MulBackward0' object"):
            attempt(y.grad_fn)


# Weak references


@pytest.mark.usefixtures("no_collector")
class TestWeakReferences:
    def test_a_tensor_dies_with_its_last_name(self) -> None:
        said: list[str] = []
        x = torch.ones(2, requires_grad=True)
        reference = weakref.ref(x)
        weakref.finalize(x, said.append, "gone")
        (x * 2).sum().backward()
        assert reference() is x
        del x
        assert reference() is None
        assert said == ["gone"]

    def test_dictionaries(self) -> None:
        x, y = torch.ones(1), torch.ones(1)
        by_tensor = weakref.WeakKeyDictionary({x: 1, y: 2})
        by_name = weakref.WeakValueDictionary({"x": x, "y": y})
        assert (by_tensor[x], by_tensor[y]) == (1, 2)
        del x
        assert (len(by_tensor), [*by_name]) == (1, ["y"])

    def test_a_view_keeps_its_base(self) -> None:
        base = torch.ones(3)
        reference = weakref.ref(base)
        view = base[1:]
        del base
        assert view._base is reference()
        del view
        assert reference() is None

    def test_a_graph_keeps_its_leaves_and_nothing_keeps_the_graph(self) -> None:
        x = torch.ones(2, requires_grad=True)
        leaf = weakref.ref(x)
        middle = x * 2
        between = weakref.ref(middle)
        y = middle.exp().sum()
        del x, middle
        assert leaf() is not None
        assert between() is None                     # the graph keeps arrays, not tensors
        node = weakref.ref(y.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[0][0])
        assert type(node()).__name__ == "AccumulateGrad"
        y.backward()
        del y
        assert node() is None
        assert leaf() is None

    def test_the_subclass_of_a_leaf(self) -> None:
        class Named(torch.Tensor):
            pass

        x = torch.ones(2).as_subclass(Named).requires_grad_()
        reference = weakref.ref(x)
        (x * 2).sum().backward()
        del x
        assert reference() is None


# What Python asks


def test_what_python_asks() -> None:
    t = torch.arange(3.)
    assert len(t) == 3
    assert [x.item() for x in t] == [0, 1, 2]
    assert [x.item() for x in reversed(t)] == [2, 1, 0]
    assert reversed(torch.tensor(2.)).item() == 2
    assert 2. in t
    assert 5 not in t
    assert torch.tensor(1.) in t
    assert t in {t}
    assert t.clone() not in {t}
    assert ["a", "b", "c"][torch.tensor(1)] == "b"
    assert bool(torch.tensor(2)) is True
    assert t.__array_priority__ == 1000
    assert {"backward", "shape"} <= {*dir(t)}


@pytest.mark.parametrize(("ask", "error", "message"), [
    (len, TypeError, r"len\(\) of a 0-d tensor"), (iter, TypeError, "iteration over a 0-d tensor"),
    (lambda t: [0][t], TypeError, "only integer tensors of a single element can be converted to an index"),
    (lambda t: None in t, RuntimeError, "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "),
    (lambda t: bool(torch.ones(2)), RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
    (lambda t: format(torch.ones(1), ".1f"), TypeError, "unsupported format string passed to Tensor.__format__")])
def test_what_python_is_refused(ask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ask(torch.tensor(1.5))


@pytest.mark.parametrize("make", [
    lambda: torch.ones(2), lambda: torch.ones(2, requires_grad=True), lambda: torch.ones(2)[0],
    lambda: nn.Parameter(torch.ones(2)), lambda: torch.arange(3), lambda: torch.ones(2, requires_grad=True) * 2,
])
@pytest.mark.parametrize(("attribute", "said"), [
    ("data", "Deleting tensor data is not allowed. Delete tensor instead!"),
    ("requires_grad", "requires_grad must be a bool"),
    ("_backward_hooks", "Deletion of _backwards_hooks not allowed!"),
])
def test_what_makes_a_tensor_cannot_be_deleted(make: Any, attribute: str, said: str) -> None:
    tensor = make()
    before = tensor.tolist()
    with pytest.raises(RuntimeError, match=f"^{said}"):
        delattr(tensor, attribute)
    assert tensor.tolist() == before


def test_what_counts_as_an_int_is_a_size() -> None:
    sizes = torch.Size((True, np.int64(2), torch.tensor(3)))
    assert repr(sizes) == "torch.Size([1, 2, 3])"
    assert [*map(type, sizes)] == [int] * 3
    assert torch.ones(torch.Size((True, 4))).reshape(torch.Size((4, True))).shape == (4, 1)
    assert torch.zeros(2, True).view((True + 1, True)).expand(2, True).shape == torch.Size((2, True))
    more = (1,)
    for part in (sizes[:1], sizes * 2, sizes + more, more + sizes):
        assert type(part) is torch.Size
    assert torch.distributions.Multinomial(True, torch.ones(3)).sample().shape == (3,)
