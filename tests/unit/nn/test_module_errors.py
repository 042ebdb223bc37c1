"""An error inside a module says in a note which module it is: the path in the model, the class and the settings."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import retrograd as torch
from noting import whole
from retrograd import nn
from retrograd.foundations.errors import Site, at


class Stop(Exception):
    """An error of the program's own, whose arguments are no text."""


class Calls(nn.Module):
    """A module that calls a function, and holds other modules."""

    def __init__(self, function: Callable[..., Any], **held: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, module in held.items():
            self.add_module(name, module)

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def error_of(call: Callable[[], Any], kind: type[Exception] = RuntimeError) -> Exception:
    with pytest.raises(kind) as caught:
        call()
    return caught.value


def notes(error: Exception) -> list[str]:
    return getattr(error, "__notes__", [])


def facts(error: BaseException | None) -> list[str]:
    """The notes without those of the error itself."""
    own = re.compile("  (read more|because|given) ")
    return [note.strip() for note in getattr(error, "__notes__", []) if not own.match(note)]


def fails(error: Exception) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        raise error
    return function


X = torch.ones(1, 2)
MODEL = nn.Sequential(nn.Linear(7, 2))
HERE = at(Site(facts.__code__, 0)).partition(":")[0]            # this file, as a note names it


def test_the_path_the_class_and_the_settings_are_named() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Linear(4, 5, bias=False)))
    error = error_of(lambda: net(X))
    assert facts(error) == ["module     net[1][1]: Linear(in_features=4, out_features=5, bias=False)"]
    assert str(error).startswith("mat1 and mat2 shapes cannot be multiplied (1x3 and 4x5)")
    assert "module" not in str(error)


def test_a_path_leads_through_modules_that_are_not_called() -> None:
    net = Calls(lambda x: net.layers[1](x), layers=nn.ModuleList([nn.ReLU(), nn.Linear(7, 2)]))
    assert facts(error_of(lambda: net(X))) == [
        "module     net.layers[1]: Linear(in_features=7, out_features=2, bias=True)"]


def test_a_layer_alone_has_its_settings_and_a_model_alone_has_no_note() -> None:
    assert facts(error_of(lambda: nn.Linear(7, 2)(X))) == [
        "module     Linear(in_features=7, out_features=2, bias=True)"]
    assert facts(error_of(lambda: Calls(fails(Stop(1)), other=nn.ReLU())(X), Stop)) == []


def test_a_module_that_its_caller_does_not_hold_has_no_path_but_a_name() -> None:
    layer = nn.Linear(7, 2)
    text = "Linear(in_features=7, out_features=2, bias=True)"
    assert facts(error_of(lambda: Calls(lambda x: layer(x))(X))) == [f"module     layer: {text}"]
    for call in (Calls(lambda x: nn.Linear(7, 2)(x)), nn.Linear(7, 2)):
        assert facts(error_of(partial(call, X))) == [f"module     {text}"]


def test_a_module_has_the_name_that_the_function_of_the_program_has_for_it() -> None:
    class Trainer:
        def __init__(self, model: nn.Module) -> None:
            self.model = model

        def run(self) -> None:
            self.model(X)

    text = "Linear(in_features=7, out_features=2, bias=True)"
    assert facts(error_of(Trainer(nn.Linear(7, 2)).run)) == [f"module     self.model: {text}"]
    assert facts(error_of(lambda: MODEL(X))) == [f"module     MODEL[0]: {text}"]
    assert facts(error_of(lambda: nn.Sequential(nn.Linear(7, 2))(X))) == [f"module     Sequential[0]: {text}"]


@pytest.mark.parametrize(("held", "place", "kind", "remedy"), [
    ([nn.ReLU(), nn.Linear(7, 2)], "[1]", "list", "List"), ((nn.Linear(7, 2),), "[0]", "tuple", "List"),
    ({"a": nn.Linear(7, 2)}, "['a']", "dict", "Dict")])
def test_a_module_in_a_list_that_is_no_module_list_has_a_path_and_a_remedy(
        held: Any, place: str, kind: str, remedy: str) -> None:
    net = Calls(lambda x: (held["a"] if isinstance(held, dict) else held[-1])(x))
    net.layers = held
    error = error_of(lambda: net(X))
    count = "the 2 modules" if len(held) == 2 else "the 1 module"
    assert facts(error) == [f"module     net.layers{place}: Linear(in_features=7, out_features=2, bias=True)",
                            f"instead    self.layers = torch.nn.Module{remedy}(…)"]
    assert f"  because    Calls.layers is a {kind}, so Calls does not know {count} in it" in notes(error)
    net.add_module("known", net.layers["a"] if isinstance(held, dict) else held[-1])
    assert facts(error_of(lambda: net(X))) == [
        "module     net.known: Linear(in_features=7, out_features=2, bias=True)"]


def test_an_error_keeps_its_type_its_arguments_and_its_own_notes() -> None:
    raised = Stop(1, [2])
    raised.add_note("my own")
    error = error_of(lambda: nn.Sequential(Calls(fails(raised)))(X), Stop)
    assert error is raised
    assert error.args == (1, [2])
    assert facts(error) == ["my own", "module     Sequential[0]: Calls"]
    assert notes(pickle.loads(pickle.dumps(error))) == notes(error)


def test_an_error_that_is_raised_anew_names_the_last_module() -> None:
    raised = Stop()
    net = nn.Sequential(nn.Identity(), Calls(fails(raised)))
    error_of(lambda: nn.Sequential(net)(X), Stop)
    raised.__traceback__ = None
    error_of(lambda: net(X), Stop)
    assert facts(raised) == ["module     net[1]: Calls"]


def test_an_error_made_of_another_names_the_module_that_made_it() -> None:
    def convert(x: Any) -> Any:
        try:
            return net.inner.layer(x)
        except RuntimeError as error:
            raise Stop from error

    net = Calls(lambda x: net.inner(x), inner=Calls(convert, layer=nn.Linear(7, 2)))
    error = error_of(lambda: net(X), Stop)
    assert facts(error) == ["module     net.inner: Calls"]
    assert error.__cause__ is not None
    assert facts(error.__cause__) == [
        "module     net.inner.layer: Linear(in_features=7, out_features=2, bias=True)"]


def test_errors_of_hooks_name_the_module() -> None:
    net = nn.Sequential(nn.ReLU())
    net[0].register_forward_hook(fails(Stop()))
    assert facts(error_of(lambda: net(X), Stop)) == ["module     net[0]: ReLU"]


def test_a_broken_text_of_a_module_does_not_hide_the_error() -> None:
    class Odd(Calls):
        def extra_repr(self) -> str:
            raise KeyError("no settings")

    assert facts(error_of(lambda: nn.Sequential(Odd(fails(Stop())))(X), Stop)) == ["module     Sequential[0]: Odd"]


def test_an_interrupt_has_no_note() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        nn.Sequential(Calls(fails(KeyboardInterrupt())))(X)  # type: ignore[arg-type]
    assert not hasattr(caught.value, "__notes__")


def test_a_second_backward_names_the_forward_line_where_it_is_known() -> None:
    x = torch.ones(2, requires_grad=True)
    plain = (x * x).sum()
    with pytest.warns(UserWarning, match="Anomaly Detection"), torch.autograd.detect_anomaly():
        noted = (x * x).sum()
    for result in (plain, noted):
        result.backward()
    assert f"  recorded   MulBackward0 at {HERE}:" in whole(error_of(noted.backward))
    assert "recorded" not in whole(error_of(plain.backward))


def test_a_gradient_of_a_wrong_shape_names_the_forward_line_where_it_is_known() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.sum()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * torch.ones(2)

    with pytest.warns(UserWarning, match="Anomaly Detection"), torch.autograd.detect_anomaly():
        result = Wrong.apply(torch.ones(3, requires_grad=True))
    assert f"  recorded   WrongBackward at {HERE}:" in whole(error_of(result.backward))


def test_a_state_that_does_not_fit_names_the_prefix_or_the_list() -> None:
    layer, net = nn.Linear(1, 1), Calls(len)
    state = {f"module.{name}": value for name, value in layer.state_dict().items()}
    assert facts(error_of(lambda: layer.load_state_dict(state))) == [
        "instead    {name.removeprefix('module.'): value for name, value in state.items()}"]
    net.layers = [layer]
    state = {f"layers.0.{name}": value for name, value in layer.state_dict().items()}
    assert facts(error_of(lambda: net.load_state_dict(state))) == ["instead    self.layers = torch.nn.ModuleList(…)"]
    wrong = {name: torch.ones(7) for name in layer.state_dict()}
    assert facts(error_of(lambda: layer.load_state_dict(wrong))) == []


def test_a_module_in_the_place_of_a_tensor_is_told() -> None:
    error = error_of(lambda: nn.ReLU().sum(), AttributeError)
    assert notes(error) == ["  because    a module is no tensor; a call of it with a tensor returns one"]
    assert not hasattr(error_of(lambda: nn.ReLU().forwards, AttributeError), "__notes__")


def test_widths_and_dtypes_of_a_linear_layer() -> None:
    layer = nn.Linear(6, 1)
    assert "  instead    input.flatten(1): a row of 6 numbers for each sample" in notes(
        error_of(lambda: layer(torch.ones(4, 2, 3))))
    assert "  given      an input of shape [4, 5], whose last size must be 6" in notes(
        error_of(lambda: layer(torch.ones(4, 5))))
    assert "  instead    input.to(torch.float32)" in notes(error_of(lambda: layer(torch.ones(4, 6).double())))


def test_sizes_of_a_recurrent_layer() -> None:
    network = nn.GRU(3, 5, batch_first=True)
    assert "  given      an input of shape [2, 4, 7]: batch, time, features" in notes(
        error_of(lambda: network(torch.ones(2, 4, 7))))
    assert "  because    the states are of 2 sequences, and the input has 1" in notes(
        error_of(lambda: network(torch.ones(1, 4, 3), torch.ones(1, 2, 5))))


@pytest.mark.parametrize(("layer", "named"), [
    (torch.relu, "torch._VariableFunctionsClass.relu"), (torch.nn.functional.relu, "torch.nn.functional.relu"),
    (len, "len"), (3, "int"), (torch.ones(2), "torch.FloatTensor")])
def test_what_is_no_module_is_named(layer: Any, named: str) -> None:
    with pytest.raises(TypeError) as caught:
        torch.nn.Sequential(layer)
    assert str(caught.value) == f"{named} is not a Module subclass"


@pytest.mark.parametrize("kind", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_a_module_s_hook_that_changes_sizes_is_named_as_in_pytorch(kind: str) -> None:
    layer = torch.nn.Linear(2, 2)
    getattr(layer, kind)(lambda module, *grads: (grads[0][0][:, :1],))
    with pytest.raises(RuntimeError) as caught:
        layer(torch.ones(1, 2, requires_grad=True)).sum().backward()
    assert str(caught.value) == "hook 'hook' has changed the size of value"
