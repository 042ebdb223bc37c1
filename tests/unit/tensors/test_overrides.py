"""`__torch_function__`, of classes and of modes, and torch.overrides. The facts were taken from PyTorch 2.13."""

import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest

import retrograd as torch
from retrograd.tensors.state.dispatch import DISPATCH

functional, overrides = torch.nn.functional, torch.overrides


class Logged(torch.Tensor):
    """Notes what it is handed."""

    log: list[Any]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.log.append((func, types, args, kwargs))
        return super().__torch_function__(func, types, args, kwargs)


class Duck:
    """No tensor: a size and a value, of which some functions are known."""

    handled: ClassVar[dict[Any, Any]] = {}

    def __init__(self, size: int, value: float) -> None:
        self.size, self.value = size, value

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in cls.handled or not all(issubclass(t, (torch.Tensor, Duck)) for t in types):
            return NotImplemented
        return cls.handled[func](*args, **(kwargs or {}))


Duck.handled[torch.mean] = lambda duck: duck.value / duck.size
Duck.handled[torch.cat] = lambda ducks, dim=0: Duck(sum(d.size for d in ducks), ducks[0].value)
Duck.handled[torch.Tensor.add] = lambda x, y: ("add", type(x).__name__, type(y).__name__)
Duck.handled[functional.relu] = lambda duck: Duck(duck.size, max(duck.value, 0))
Duck.handled[functional.linear] = lambda x, weight, bias=None: (type(x).__name__, type(weight).__name__)


def logged(call: Any) -> Any:
    t = torch.tensor([1., 2.]).as_subclass(Logged)
    Logged.log = []
    call(t)
    return Logged.log[0]


CALLS = {
    "add": (lambda t: t + 1, torch.Tensor.add), "radd": (lambda t: 1 + t, torch.Tensor.add),
    "plain add": (lambda t: torch.ones(2) + t, torch.Tensor.add), "rsub": (lambda t: 1 - t, torch.Tensor.__rsub__),
    "mul": (lambda t: t * 2, torch.Tensor.mul), "div": (lambda t: t / 2, torch.Tensor.div),
    "matmul": (lambda t: t @ t, torch.Tensor.matmul), "lt": (lambda t: t < 1, torch.Tensor.lt),
    "gt": (lambda t: 1 < t,  # noqa: SIM300
            torch.Tensor.gt), "remainder": (lambda t: t % 2, torch.Tensor.remainder),
    "eq": (lambda t: t == 1, torch.Tensor.__eq__), "neg": (lambda t: -t, torch.Tensor.neg),
    "floordiv": (lambda t: t // 2, torch.Tensor.__floordiv__), "sum": (lambda t: t.sum(), torch.Tensor.sum),
    "function": (lambda t: torch.add(t, 1), torch.add), "composed": (lambda t: torch.softmax(t, 0), torch.softmax),
    "keyword": (lambda t: torch.sum(input=t), torch.sum), "list": (lambda t: torch.cat([t, t]), torch.cat),
    "nn": (lambda t: functional.relu(t), functional.relu), "layer": (lambda t: torch.nn.ReLU()(t), functional.relu),
    "index": (lambda t: t[0], torch.Tensor.__getitem__), "write": (lambda t: t.__setitem__(0, 1.),
                                                                  torch.Tensor.__setitem__),
    "in place": (lambda t: t.add_(1), torch.Tensor.add_), "iadd": (lambda t: t.__iadd__(1), torch.Tensor.add_),
    "property": (lambda t: t.shape, torch.Tensor.shape.__get__),  # type: ignore[attr-defined]
    "setter": (lambda t: setattr(t, "requires_grad", True),
               torch.Tensor.requires_grad.__set__),  # type: ignore[attr-defined]
    "repr": (repr, torch.Tensor.__repr__), "len": (len, torch.Tensor.__len__), "bool": (lambda t: bool(t[0]), None),
    "grad": (lambda t: torch.autograd.grad(t.requires_grad_().sum(), t), None),
}


@pytest.mark.parametrize(("call", "func"), CALLS.values(), ids=CALLS)
def test_the_function_that_is_handed_over(call: Any, func: Any) -> None:
    given, types, _, _ = logged(call)
    if func is not None:
        assert given == func
    assert types == (Logged,)


def test_arguments_are_handed_over_as_they_came() -> None:
    _, _, args, kwargs = logged(lambda t: torch.add(torch.ones(2), t, alpha=2))
    assert [type(arg) for arg in args] == [torch.Tensor, Logged]
    assert kwargs == {"alpha": 2}
    _, _, args, kwargs = logged(lambda t: torch.sum(input=t, dim=0))
    assert args == ()
    assert kwargs["dim"] == 0


def test_the_function_can_be_called_on_plain_tensors() -> None:
    func, _, args, _ = logged(lambda t: t * 2)
    assert type(func(*[a.as_subclass(torch.Tensor) if isinstance(a, Logged) else a for a in args])) is torch.Tensor
    assert func.__name__ == "mul"


def test_a_whole_function_is_one_call() -> None:
    logged(lambda t: functional.cross_entropy(t.reshape(1, 2), torch.tensor([0])))
    assert [func for func, *_ in Logged.log] == [torch.Tensor.reshape, functional.cross_entropy]
    logged(lambda t: (t.requires_grad_() * 3).sum().backward())
    assert [func.__name__ for func, *_ in Logged.log] == ["requires_grad_", "mul", "sum", "backward"]


class TestDucks:
    """Classes that are not derived from Tensor."""

    def test_functions(self) -> None:
        assert torch.mean(Duck(4, 2)) == 0.5  # type: ignore[arg-type]
        assert torch.cat([Duck(1, 2), Duck(2, 2)]).size == 3  # type: ignore[list-item, comparison-overlap]
        assert functional.relu(Duck(1, -1)).value == 0
        assert torch.nn.Linear(1, 1)(Duck(1, 1)) == ("Duck", "Parameter")

    def test_methods_and_operators_of_tensors(self) -> None:
        assert torch.ones(1).add(Duck(1, 1)) == ("add", "Tensor", "Duck")  # type: ignore[comparison-overlap]
        assert torch.ones(1) + Duck(1, 1) == ("add", "Tensor", "Duck")

    def test_refusals(self) -> None:
        with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.sum'.*\n\n  - tensor subclass <clas"):
            torch.sum(Duck(1, 1))
        with pytest.raises(TypeError, match="no implementation found for 'torch.nn.functional.gelu' on types that imp"):
            functional.gelu(Duck(1, 1))
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*: 'Tensor' and 'Duck'"):
            torch.ones(1) * Duck(1, 1)


def test_subclasses_are_asked_before_their_bases_and_others_from_left_to_right() -> None:
    asked: list[str] = []

    class Base(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(cls.__name__)
            return NotImplemented

    class Derived(Base):
        pass

    class Stranger(Base):
        pass

    base, derived, stranger = (torch.ones(1).as_subclass(c) for c in (Base, Derived, Stranger))
    with pytest.raises(TypeError, match="Multiple dispatch failed"):
        torch.cat([base, stranger, derived, derived])
    assert asked == ["Stranger", "Derived", "Base"]
    assert overrides.has_torch_function((1, base))
    with pytest.raises(TypeError, match=r"'torch.Tensor.shape.__get__'; all __torch_function__ handlers"):
        print(base.shape)


def test_switches() -> None:
    t = torch.ones(2).as_subclass(Logged)
    Logged.log = []
    with torch._C.DisableTorchFunctionSubclass():
        assert type(t + 1) is torch.Tensor
        with torch._C.DisableTorchFunction():
            assert not overrides.has_torch_function((t,))
    assert Logged.log == []
    seen = []
    with torch._C.DisableTorchFunctionSubclass():
        thread = threading.Thread(target=lambda: seen.append(type(t + 1)))
        thread.start()
        thread.join()
    assert seen == [Logged]
    assert torch._C._disabled_torch_function_impl is torch.nn.Parameter.__torch_function__


class Noting(overrides.TorchFunctionMode):
    def __init__(self) -> None:
        self.names: list[str | None] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(overrides.resolve_name(func))
        return func(*args, **(kwargs or {}))


def test_modes_see_every_call_on_plain_tensors() -> None:
    with Noting() as mode:
        x = torch.zeros(2).exp() + 1
        assert torch.nn.functional.relu(x).shape == (2,)
        torch.tensor(1.)
        torch.manual_seed(0)
    assert mode.names == ["torch.zeros", "torch.Tensor.exp", "torch.Tensor.add",
                          "torch.nn.functional.relu", "torch.Tensor.shape.__get__", "torch.tensor"]
    torch.ones(1)
    assert len(mode.names) == 6


def test_modes_nest_and_come_before_classes() -> None:
    t = torch.ones(1).as_subclass(Logged)
    Logged.log = []
    with Noting() as outer, Noting() as inner:
        assert type(t.exp()) is Logged
    assert outer.names == inner.names == ["torch.Tensor.exp"]
    assert len(Logged.log) == 1
    with pytest.raises(KeyError), Noting():
        raise KeyError
    assert not overrides.has_torch_function(())
    with overrides.BaseTorchFunctionMode():
        assert torch.ones(1).item() == 1


def test_a_mode_may_refuse() -> None:
    class Unwilling(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    x = torch.ones(2)
    with pytest.raises(TypeError, match=r"'torch.Tensor.exp'; all __torch_function__ handlers .*\n\n  - mode object"), \
            Unwilling():
        x.exp()
    with pytest.raises(TypeError, match=r"'torch.functional.einsum' on types .*: \[\] nor in mode <"), Unwilling():
        torch.einsum("i", x)
    with pytest.raises(NotImplementedError), overrides.TorchFunctionMode():
        x.exp()


def test_functions_of_users() -> None:
    def area(shape: Any) -> Any:
        if overrides.has_torch_function_unary(shape):
            return overrides.handle_torch_function(area, (shape,), shape)
        return shape.sum()

    @overrides.wrap_torch_function(lambda x: (x,))
    def doubled(x: Any) -> Any:
        return x * 2

    with pytest.raises(TypeError, match=r"no implementation found for '.*area' on types that implement __torch_f"):
        area(Duck(1, 1))
    Duck.handled[area] = Duck.handled[doubled] = lambda duck: "handled"
    assert area(Duck(1, 1)) == doubled(Duck(1, 1)) == "handled"
    assert doubled(torch.ones(1)).item() == 2
    assert area(torch.ones(2)).item() == 2


def test_what_can_be_overridden() -> None:
    assert [overrides.is_tensor_like(x) for x in (torch.ones(1), Duck(1, 1), 1, np.ones(1))] == [
        True, True, False, False]
    assert overrides.has_torch_function_variadic(torch.ones(1), 1) is False
    assert overrides.is_tensor_method_or_property(torch.Tensor.sum)
    assert not overrides.is_tensor_method_or_property(functional.relu)
    names = [functional.relu, torch.Tensor.shape.__get__, torch.einsum, len, []]  # type: ignore[attr-defined]
    assert [*map(overrides.resolve_name, names)] == [
        "torch.nn.functional.relu", "torch.Tensor.shape.__get__", "torch.functional.einsum", None, None]
    tables = overrides.get_overridable_functions()
    assert torch.sum in tables[torch]
    assert torch.Tensor.add in tables[torch.Tensor]
    assert functional.linear in tables[functional]
    ignored = overrides.get_ignored_functions()
    assert {torch.is_tensor, torch.manual_seed, torch.Tensor.as_subclass} <= ignored
    assert not ignored & {*tables[torch], *tables[torch.Tensor]}
    assert torch.Tensor.grad.__get__ in overrides.get_default_nowrap_functions()  # type: ignore[attr-defined]


def test_functions_stay_themselves() -> None:
    """In a fresh interpreter: a class with `__torch_function__` is asked, and no function changes."""
    program = """if True:
        import inspect, retrograd as torch
        exp, code, signature = torch.exp, torch.sum.__code__, inspect.signature(torch.sum)
        x = torch.nn.Parameter(torch.ones(2))
        assert type(x + 1) is torch.Tensor
        class Duck:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return func
        assert torch.sum(Duck()) is torch.sum
        class T(torch.Tensor):
            pass
        assert torch.sum.__code__ is code and exp is torch.exp and inspect.signature(torch.sum) == signature
        assert type(exp(torch.ones(1).as_subclass(T))) is T
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_plain_tensor_is_not_slower_after_a_class_was_derived_from_tensor() -> None:
    """Plain tensors pass without a look at modes and subclasses, whatever classes there are."""
    class Derived(torch.Tensor):
        pass

    assert DISPATCH.plain is torch.Tensor
    assert Derived not in DISPATCH.inert
    assert torch.Tensor in DISPATCH.inert


def test_the_frames_of_functions_that_ask_can_be_looked_into() -> None:
    """A debugger reads the variables of every frame of a traceback; and Python's own refusals name the function."""
    with pytest.raises(TypeError, match="argmax") as raised:
        torch.argmax("text")
    frame: Any = raised.tb
    while frame is not None:
        assert isinstance(frame.tb_frame.f_locals, Mapping)     # a dict before Python 3.13
        frame = frame.tb_next
    with pytest.raises(TypeError, match=r"argmax\(\) takes from 1 to 3 positional arguments but 6 were given"):
        torch.argmax(torch.ones(2), 1, 2, 3, 4, 5)


class OtherTensor:
    """A tensor of another package with the protocol, such as PyTorch itself."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([1.0, 2.0])


OtherTensor.__module__, OtherTensor.__name__ = "torch", "Tensor"


def other_sin(x: Any) -> Any:
    """A function of the other package: it asks its argument to handle the call."""
    return type(x).__torch_function__(other_sin, (type(x),), (x,), {})


@pytest.mark.parametrize("x", [torch.ones(2), torch.nn.Parameter(torch.ones(2)), torch.ones(2).to_sparse()])
def test_a_function_of_another_package_is_refused(x: Any) -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match=r"other_sin\(\) is a function of another package, and takes no tensor"):
            other_sin(x)
    Logged.log = []
    assert Logged(torch.ones(2)).mean().item() == 1


@pytest.mark.parametrize("call", [
    torch.sin, lambda x: torch.add(torch.ones(2), x), lambda x: torch.ones(2).add_(x), lambda x: torch.cat([x, x]),
    torch.nn.Linear(2, 2), torch.nn.functional.relu])
def test_a_tensor_of_another_package_is_refused(call: Any) -> None:
    with pytest.raises(TypeError, match=r"\(\) is a function of retrograd, and takes no tensor of another"):
        call(OtherTensor())


def test_a_tensor_of_another_package_is_copied() -> None:
    assert torch.tensor(OtherTensor()).tolist() == [1.0, 2.0]
    assert torch.as_tensor(OtherTensor(), dtype=torch.int32).tolist() == [1, 2]


def test_a_function_may_call_itself_for_other_arguments() -> None:
    def halved(x: Any) -> Any:
        if overrides.has_torch_function((x,)):
            return overrides.handle_torch_function(halved, (x,), x)
        return x if x.max() < 1 else halved((x / 2).as_subclass(Logged))

    Logged.log = []
    assert halved(torch.full((2,), 5.0).as_subclass(Logged)).tolist() == [0.625, 0.625]


def test_whether_a_mode_is_entered() -> None:
    def found() -> bool:
        return bool(torch._C._is_torch_function_mode_enabled())

    assert not found()
    with overrides.TorchFunctionMode():
        assert found()
        with torch._C.DisableTorchFunction():
            assert not found()
        with torch._C.DisableTorchFunctionSubclass():
            assert found()
