"""Tensors that wrap tensors, and what their class is handed. Facts taken from PyTorch 2.13."""

import copy
import gc
import io
import pickle
import weakref
from typing import Any

import pytest

import retrograd as torch
from comparing.dispatch_calls import CALLS
from retrograd.dispatch.passes import DispatchPass
from retrograd.foundations.modes import local
from retrograd.graph.crossings import alive
from retrograd.graph.engine import Pass
from retrograd.graph.repeated import repeated
from retrograd.graph.route import Route
from retrograd.tensors.state.base import edge_of
from retrograd.utils._python_dispatch import (
    is_traceable_wrapper_subclass,
    return_and_correct_aliasing,
    transform_subclass,
)
from retrograd.utils._pytree import tree_map


class Wrapped(torch.Tensor):
    inside: Any
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inside: Any) -> Any:
        made = torch.Tensor._make_wrapper_subclass(
            cls, inside.size(), strides=inside.stride(), dtype=inside.dtype, device=inside.device,
            requires_grad=inside.requires_grad)
        made.inside = inside.detach()
        return made

    def __init__(self, inside: Any) -> None:
        pass

    def __repr__(self) -> str:
        return f"Wrapped({self.inside})"

    def __tensor_flatten__(self) -> Any:
        return ["inside"], None

    @classmethod
    def __tensor_unflatten__(cls, parts: Any, context: Any, size: Any, stride: Any) -> Any:
        return cls(parts["inside"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert all(issubclass(kind, Wrapped) for kind in types)
        args, kwargs = tree_map(lambda x: x.inside if isinstance(x, cls) else x, (args, kwargs or {}))
        return tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, func(*args, **kwargs))


class Slotted(Wrapped):
    __slots__ = ("more",)


def test_a_wrapper_has_a_geometry_and_a_history() -> None:
    x = Wrapped(torch.arange(6.).view(3, 2).t().requires_grad_())
    assert (x.shape, x.stride(), x.dtype, x.device.type) == ((2, 3), (1, 2), torch.float32, "cpu")
    assert x.requires_grad
    assert x.is_leaf
    assert not x.is_contiguous()
    y = (x * 2).exp().sum()
    assert type(y) is Wrapped
    assert y.grad_fn.name() == "SumBackward0"
    y.backward()
    assert type(x.grad) is Wrapped
    assert torch.allclose(x.grad.inside, 2 * (2 * x.inside).exp())


def test_a_parameter_keeps_its_class_and_learns() -> None:
    layer = torch.nn.Linear(3, 2)
    layer.weight = torch.nn.Parameter(Wrapped(torch.ones(2, 3)))
    assert type(layer.weight) is Wrapped
    assert isinstance(layer.weight, torch.nn.Parameter)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        layer(torch.ones(4, 3)).square().sum().backward()
        optimizer.step()
    assert type(layer.weight.grad) is Wrapped
    assert torch.allclose(layer.weight.inside, torch.full((2, 3), 0.8), atol=1e-2)


def test_an_operand_of_an_old_graph_is_made_again() -> None:
    x = torch.ones(2, requires_grad=True)
    w = Wrapped(torch.tensor([2., 3.]))
    held = weakref.ref(w)
    y = x * w
    del w
    gc.collect()
    assert held() is None
    y.sum().backward()
    assert x.grad.inside.tolist() == [2., 3.]


def test_a_class_with_slots_keeps_them() -> None:
    x = Slotted(torch.ones(2))
    x.more = 5
    y = x * x.detach()
    assert type(y) is Slotted
    assert copy.copy(x) is not x
    assert pickle.loads(pickle.dumps(x)).more == 5


def test_passes_are_as_before_when_no_wrapper_is_left() -> None:
    gc.collect()
    before = {*alive}
    x = Wrapped(torch.ones(2))
    assert len(alive) == len(before) + 1
    del x
    gc.collect()
    assert alive <= before


def test_views_share_the_storage_that_the_schema_says() -> None:
    class Careful(Wrapped):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found = super().__torch_dispatch__(func, types, args, kwargs)
            return return_and_correct_aliasing(func, args, kwargs, found)

    x = Careful(torch.ones(2, 2))
    assert x.view(4).untyped_storage() is x.untyped_storage()
    assert (x * 2).untyped_storage() is not x.untyped_storage()
    assert x.untyped_storage().nbytes() == 16
    assert x.data_ptr() == 0
    y = x.add_(1)
    assert y is x
    assert x.inside.tolist() == [[2., 2.], [2., 2.]]
    assert transform_subclass(x, lambda name, part: part * 3).inside.tolist() == [[6., 6.], [6., 6.]]
    assert is_traceable_wrapper_subclass(x)


@pytest.mark.filterwarnings("ignore:torch.load with weights_only=False")
def test_copies_pickles_and_files() -> None:
    x = Wrapped(torch.ones(2, 3)).requires_grad_()
    for found in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(found) is Wrapped
        assert found.requires_grad
        assert found.inside.tolist() == x.inside.tolist()
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    assert torch.load(file, weights_only=False)["x"].inside.shape == (2, 3)

    class Plain(Wrapped):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return tree_map(lambda x: x.inside if isinstance(x, Wrapped) else x, args)[0]

    with pytest.raises(RuntimeError, match="only works for subclass types that implement clone"):
        copy.deepcopy(Plain(torch.ones(2)))


def test_hooks_and_functions_see_wrappers() -> None:
    seen = []
    x = Wrapped(torch.ones(3)).requires_grad_()
    x.register_hook(lambda g: seen.append(("hook", type(g))))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("after", type(p.grad))))

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, t: Any) -> Any:
            ctx.save_for_backward(t)
            return t * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.extend([("gradient", type(g)), ("saved", type(ctx.saved_tensors[0]))])
            return g * 2

    with torch.autograd.graph.saved_tensors_hooks(lambda t: (seen.append(("packed", type(t))), t)[1], lambda t: t):
        y = Doubled.apply(x) * x.exp()
    y.sum().backward()
    assert {kind for _, kind in seen} == {Wrapped}
    assert {word for word, _ in seen} == {"hook", "after", "gradient", "saved", "packed"}
    grad, = torch.autograd.grad((x * 3).sum(), [x])
    assert type(grad) is Wrapped


def test_what_a_wrapper_refuses() -> None:
    class Silent(torch.Tensor):
        pass

    x = Wrapped(torch.ones(2))
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        x.numpy()
    with pytest.raises(RuntimeError, match=r"\.tolist\(\) is not supported for tensor subclasses, got Wrapped"):
        x.tolist()
    for transformed in (torch.vmap(torch.sin), torch.func.jacfwd(torch.sin), torch.func.jacrev(torch.sin)):
        with pytest.raises(NotImplementedError, match="Wrapped is a wrapper of tensors"):
            transformed(x)
    with pytest.raises(TypeError, match="does not inherit from Tensor"):
        torch.Tensor._make_wrapper_subclass(int, (2,))
    with pytest.raises(RuntimeError, match="the class needs a __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Silent, (2,))
    with pytest.raises(RuntimeError, match="floating point and complex dtype can require gradients"):
        torch.Tensor._make_wrapper_subclass(Wrapped, (2,), dtype=torch.int64, requires_grad=True)


def test_a_class_over_memory_of_its_own_handles_calls_too() -> None:
    seen = []

    class Noted(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            with torch._C._DisableTorchDispatch():
                return func(*args, **(kwargs or {}))

    x = torch.Tensor._make_subclass(Noted, torch.ones(2))
    assert (x * 2).tolist() == [2., 2.]
    assert seen == ["aten.mul.Tensor"]


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [text for text in CALLS if "empty" not in text and ".t_()" not in text])
def test_numbers_are_those_of_the_tensors_inside(text: str) -> None:
    expected, found = [results(text, wrap) for wrap in (lambda t: t, Wrapped)]
    assert alike(found, expected)


def results(text: str, wrap: Any) -> list[Any]:
    """What a call and its backward pass give; or the error."""
    torch.manual_seed(0)
    names: dict[str, Any] = {name: wrap(torch.randn(*shape).requires_grad_()) for name, shape in {
        "x": (4, 5), "y": (4, 5), "b": (2, 4, 5), "w": (3, 5), "v": (3,), "im": (2, 3, 6, 6),
        "k": (4, 3, 3, 3)}.items()}
    names["p"] = wrap((torch.rand(4, 5) + 0.5).requires_grad_())
    names["s"] = wrap((torch.eye(3) * 3 + torch.ones(3, 3) * 0.1).requires_grad_())
    leaves = [*names.values()]
    names.update(torch=torch, F=torch.nn.functional, i=torch.tensor([0, 2]), c=torch.tensor([0, 1, 2, 3]),
                 j=torch.zeros(4, 5, dtype=torch.int64))
    try:
        found = eval(text, names)
        found = [*found] if isinstance(found, (list, tuple)) else [found]
        tensors = [t for t in found if isinstance(t, torch.Tensor) and t.grad_fn is not None]
        if tensors:
            torch.autograd.backward(tensors, [wrap(torch.ones(t.shape, dtype=t.dtype) * 1.7) for t in tensors])
    except (RuntimeError, NotImplementedError) as error:
        return [str(error)]
    return [inner(t.detach()) if isinstance(t, torch.Tensor) else t for t in found] + [inner(x.grad) for x in leaves]


def inner(tensor: Any) -> Any:
    return tensor.inside if isinstance(tensor, Wrapped) else tensor


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, torch.Tensor):
        return one.dtype is other.dtype and torch.allclose(one, other, rtol=1e-6, atol=1e-7, equal_nan=True)
    return bool(one == other)


def test_passes_are_usual_while_they_meet_no_wrapper() -> None:
    x = torch.ones(3, requires_grad=True)
    kinds: list[type[Any]] = []
    x.register_hook(lambda g: kinds.append(type(local.thread.walk)))
    wrapper = Wrapped(torch.ones(3))
    (x * 2).sum().backward()
    (x * wrapper).sum().backward()
    y = torch.ones(3, requires_grad=True)
    usual, meeting = edge_of(y * y), edge_of(y * wrapper)
    assert repeated(Route([usual], [edge_of(y)], True), usual) is not None
    assert repeated(Route([meeting], [edge_of(y)], True), meeting) is None
    del wrapper, meeting
    gc.collect()
    (x * 2).sum().backward()
    assert kinds == [Pass, DispatchPass, Pass]
    assert local.thread.passing is None


def numbers(found: Any) -> Any:
    """The numbers inside a wrapper."""
    assert type(found) is Wrapped
    return found.inside.tolist()


def test_the_functions_of_autograd_functional() -> None:
    functional, x, v = torch.autograd.functional, torch.tensor([1., 2.]), torch.tensor([1., 10.])
    found = functional.jacobian(lambda a: a * a, Wrapped(x))
    assert numbers(found) == [[2., 0.], [0., 4.]]
    found = functional.hessian(lambda a: (a * a * a).sum(), Wrapped(x))
    assert numbers(found) == [[6., 0.], [0., 12.]]
    for product in (functional.vjp, functional.jvp):
        value, found = product(lambda a: a * a, Wrapped(x), Wrapped(v))
        assert type(value) is Wrapped
        assert numbers(found) == [2., 40.]
    for product in (functional.vhp, functional.hvp):
        value, found = product(lambda a: (a * a * a).sum(), Wrapped(x), Wrapped(v))
        assert type(value) is Wrapped
        assert numbers(found) == [6., 120.]
    with pytest.raises(NotImplementedError, match="is a wrapper of tensors"):
        functional.jacobian(lambda a: a * a, Wrapped(x), vectorize=True)


def test_the_gradients_of_torch_func() -> None:
    func, x = torch.func, Wrapped(torch.tensor([1., 2.]))

    def cubes(a: Any) -> Any:
        return (a * a * a).sum()

    found = func.grad(cubes)(x)
    assert numbers(found) == [3., 12.]
    assert not found.requires_grad
    found = func.grad(lambda a: func.grad(cubes)(a).sum())(x)
    assert numbers(found) == [6., 12.]
    value, pulled = func.vjp(torch.square, x)
    assert numbers(value) == [1., 4.]
    assert numbers(pulled(x)[0]) == [2., 8.]
    leaf = Wrapped(torch.tensor([1., 2.], requires_grad=True))
    func.grad(cubes)(leaf).sum().backward()
    assert leaf.grad.inside.tolist() == [6., 12.]


def test_a_wrapper_has_no_tangent_and_is_none() -> None:
    forward, x = torch.autograd.forward_ad, torch.ones(2)
    with forward.dual_level():
        for primal, tangent in ((Wrapped(x), x), (x, Wrapped(x)), (Wrapped(x), Wrapped(x))):
            with pytest.raises(NotImplementedError, match="is a wrapper of tensors"):
                forward.make_dual(primal, tangent)
