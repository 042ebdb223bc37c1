"""Classes derived from Tensor: which results keep the class, how instances are made, parameters of such a class.

The facts were taken from PyTorch 2.13.
"""

import copy
import io
import pickle
from typing import Any

import pytest

import retrograd as torch

nn = torch.nn


class Named(torch.Tensor):
    label: Any


class Special(Named):
    pass


class Other(torch.Tensor):
    pass


class Chosen(torch.Tensor):
    """Says itself what a pickle of it keeps."""

    def __getstate__(self) -> Any:
        return "kept"

    def __setstate__(self, state: Any) -> None:
        self.state = state


def named(*values: float, cls: Any = Named, **options: Any) -> Any:
    return torch.tensor([*values], **options).as_subclass(cls)


KEPT = {
    "operator": lambda t: t + 1, "reflected": lambda t: 1 - t, "beside a tensor": lambda t: torch.ones(2) * t,
    "comparison": lambda t: t > 1, "matmul": lambda t: t @ torch.ones(2), "index": lambda t: t[0],
    "slice": lambda t: t[1:], "view": lambda t: t.view(2, 1), "method": lambda t: t.exp(), "sum": lambda t: t.sum(),
    "function": lambda t: torch.sin(t), "composed": lambda t: torch.mean(t), "keyword": lambda t: torch.sum(input=t),
    "nn": lambda t: nn.functional.softmax(t, 0), "layer": lambda t: nn.Linear(2, 1)(t), "detach": lambda t: t.detach(),
    "clone": lambda t: t.clone(), "data": lambda t: t.data, "property": lambda t: t.T, "cast": lambda t: t.double(),
    "cat": lambda t: torch.cat([torch.ones(1), t]), "stack": lambda t: torch.stack((t, t)),
    "where": lambda t: torch.where(torch.ones(2) > 0, torch.ones(2), t), "like": lambda t: torch.zeros_like(t),
    "new": lambda t: t.new_zeros(3), "index by one": lambda t: torch.ones(2)[t > 1],
    "written": lambda t: t.add_(1), "parameter": lambda t: nn.Parameter(torch.ones(2)) * t,
    "requires_grad_": lambda t: t.requires_grad_(), "setting": lambda t: torch.ones(2).add_(t),
    "loop": lambda t: [*t][1], "reversed": reversed,
}


@pytest.mark.parametrize("call", KEPT.values(), ids=KEPT)
def test_results_keep_the_class(call: Any) -> None:
    assert type(call(named(1., 2.))) is Named


def test_several_results_keep_the_class() -> None:
    t = named(1., 2.)
    found = t.max(0)
    assert type(found) is torch.return_types.max
    assert {type(found.values), type(found.indices), *map(type, t.unbind()), *map(type, torch.split(t, 1))} == {Named}


@pytest.mark.parametrize("call", [
    lambda t: t.shape, lambda t: t.dtype, lambda t: t.tolist(), lambda t: len(t), lambda t: t.sum().item(),
    lambda t: t.numpy(), lambda t: torch.equal(t, t), lambda t: t.requires_grad, lambda t: t.size()])
def test_what_is_no_tensor_is_as_it_was(call: Any) -> None:
    ours, plain = call(named(1., 2.)), call(torch.tensor([1., 2.]))
    assert type(ours) is type(plain)
    assert str(ours) == str(plain)


def test_the_deepest_class_of_a_line_wins_and_strangers_do_not_mix() -> None:
    assert type(named(1.) + named(1., cls=Special)) is Special
    assert type(torch.cat([named(1.), named(1., cls=Special)])) is Special
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Named' and 'Other'"):
        named(1.) + named(1., cls=Other)
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.add'; all __torch_function__ handlers"):
        torch.add(named(1.), named(1., cls=Other))
    with pytest.raises(TypeError, match=r"no implementation found for 'torch.functional.einsum' on types"):
        torch.einsum("i,i->", named(1.), named(1., cls=Other))


def test_gradients() -> None:
    leaf = named(1., 2.).requires_grad_()
    result = (leaf * 3).sum()
    assert type(result.grad_fn).__name__ == "AliasBackward0"
    result.backward()
    assert type(leaf.grad) is torch.Tensor
    assert leaf.grad.tolist() == [3, 3]
    (grad,) = torch.autograd.grad((leaf * leaf).sum(), leaf)
    assert type(grad) is Named
    assert grad.tolist() == [2, 4]


def test_writes_go_through_views_of_it() -> None:
    leaf = torch.ones(3, requires_grad=True)
    t = (leaf * 2).as_subclass(Named)
    t[0].mul_(5)
    t[1:] += 1
    t.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [10, 2, 2]
    assert type(t) is Named


def test_as_subclass() -> None:
    x = torch.ones(2)
    t = x.as_subclass(Named)
    assert t.data_ptr() == x.data_ptr()
    t.add_(1)
    assert x.tolist() == [2, 2]
    assert x._version == t._version == 1
    leaf = torch.ones(2, requires_grad=True)
    assert repr(leaf.as_subclass(Named)) == "Named([1., 1.], grad_fn=<AliasBackward0>)"
    assert type(t.as_subclass(torch.Tensor)) is torch.Tensor
    for cls in (int, "Named"):
        with pytest.raises(TypeError, match="Creating a Tensor subclass from a class that does not inherit from Tens"):
            x.as_subclass(cls)  # type: ignore[arg-type]


def test_constructors() -> None:
    assert repr(Named([1, 2])) == "Named([1., 2.])"
    assert Named(2, 3).shape == (2, 3)
    assert repr(Named()) == "Named([])"
    assert Named(torch.ones(2, requires_grad=True)).requires_grad
    assert type(torch.Tensor.__new__(Named, [1.])) is Named
    leaf = torch.Tensor._make_subclass(Named, torch.ones(2), True)
    assert type(leaf) is Named
    assert leaf.requires_grad
    assert leaf.grad_fn is None
    with pytest.raises(TypeError, match="does not inherit from Tensor"):
        torch.Tensor._make_subclass(int, torch.ones(2))
    with pytest.raises(TypeError, match=r"_make_subclass\(\): argument 'data' \(position 2\) must be Tensor, not list"):
        torch.Tensor._make_subclass(Named, [1])
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        torch.Tensor._make_subclass(Named, torch.tensor([1]), True)


def test_parameters_are_computed_with_as_plain_tensors() -> None:
    class Weight(nn.Parameter):
        pass

    weight = Weight(torch.ones(2))
    assert type(weight) is Weight
    assert {type(weight * 2), type(weight.detach()), type(weight[0]), type(torch.sin(weight))} == {torch.Tensor}
    assert repr(weight) == "Parameter containing:\nParameter(Weight([1., 1.], requires_grad=True))"
    layer = nn.Module()
    layer.weight = weight
    assert [*layer._parameters] == ["weight"]


def test_a_parameter_of_a_class_keeps_it() -> None:
    t = nn.Parameter(named(1., 2.))
    assert type(t) is Named
    assert isinstance(t, nn.Parameter)
    assert not isinstance(named(1.), nn.Parameter)
    assert t.requires_grad
    assert repr(t) == "Parameter(Named([1., 2.], requires_grad=True))"
    layer = nn.Module()
    layer.t, layer.buffer = t, nn.Buffer(torch.ones(1))
    assert [name for name, _ in layer.named_parameters()] == ["t"]
    assert [name for name, _ in layer.named_buffers()] == ["buffer"]
    assert type(t * 2) is Named

    class Undetached(torch.Tensor):
        def detach(self) -> torch.Tensor:
            return torch.ones(1)

    with pytest.raises(RuntimeError, match="requires that detach\\(\\) returns an instance of the same type"):
        nn.Parameter(named(1., cls=Undetached))


def test_copies_and_pickles() -> None:
    t = named(1., 2.)
    t.label = ["a"]
    for twin, shared in [(copy.copy(t), True), (copy.deepcopy(t), False), (pickle.loads(pickle.dumps(t)), False)]:
        assert type(twin) is Named
        assert twin.tolist() == [1, 2]
        assert twin.label == ["a"]
        assert (twin.label is t.label) is shared
        assert (twin.data_ptr() == t.data_ptr()) is shared
    marked = nn.Parameter(named(1.))
    assert isinstance(pickle.loads(pickle.dumps(marked)), nn.Parameter)
    assert pickle.loads(pickle.dumps(named(1., cls=Chosen))).state == "kept"


def test_a_file_keeps_the_class_and_the_attributes() -> None:
    file = io.BytesIO()
    t = named(1., 2.)
    t.label = ["a"]
    torch.save(t, file)
    file.seek(0)
    with torch.serialization.safe_globals([Named]):
        loaded = torch.load(file)
    assert type(loaded) is Named
    assert loaded.tolist() == [1, 2]
    assert loaded.label == ["a"]


def test_text() -> None:
    assert repr(named(1., 2., requires_grad=True)) == "Named([1., 2.], grad_fn=<AliasBackward0>)"
    assert f"{named(1.)}" == "Named([1.])"
    for value in (named(1.)[0], nn.Parameter(torch.tensor(1.))):
        with pytest.raises(TypeError, match="unsupported format string passed to"):
            format(value, ".2f")
    assert format(torch.tensor(1.), ".2f") == "1.00"


def test_isinstance() -> None:
    assert isinstance(named(1.), torch.Tensor)
    assert isinstance(named(1.), torch.FloatTensor)
    assert torch.is_tensor(named(1.))
