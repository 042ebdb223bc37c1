"""Anomaly mode: what is raised, what the report says, what it costs, and that it leaves nothing behind."""

from __future__ import annotations

import re
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.anomalies import FINE, INF, NAN, PROGRAMS, Program, leaf
from retrograd.autograd import detect_anomaly, set_detect_anomaly
from retrograd.foundations.modes import local
from retrograd.graph.node import behind, site_of

HERE = re.escape(__file__)


@pytest.fixture(autouse=True)
def _off_again() -> Iterator[None]:
    before = local.thread.watchers
    yield
    assert not torch.is_anomaly_enabled()
    assert (local.thread.anomalies, local.thread.watchers) == (None, before)


def report(program: Callable[[], Any], check_nan: bool = True) -> str:
    """The message that a program ends with in anomaly mode, and its notes; spaces and line breaks as one space."""
    with pytest.raises((RuntimeError, ValueError)) as caught, set_detect_anomaly(True, check_nan):
        program()
    return " ".join("\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])]).split())


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_pytorch_says(name: str) -> None:
    program, message = PROGRAMS[name]
    assert report(lambda: program(torch)).startswith(message)


@pytest.mark.parametrize("program", FINE)
def test_what_is_no_anomaly(program: Program) -> None:
    with set_detect_anomaly(True):
        program(torch)


# The report

def test_the_numbers_and_the_line() -> None:
    x = leaf(torch, 4., 0., 1., 0.)
    text = report(lambda: (x.sqrt() * 0).sum().backward())
    assert re.fullmatch(
        r"Function 'SqrtBackward0' returned nan values in its 0th output\. "
        r"found the gradient of Sqrt for x has 2 nan among 4 elements, nan at \[1\], where grad = 0\.0, out = 0\.0\. "
        r"recorded SqrtBackward0, recorded at \S*test_anomaly\.py:\d+ "
        r"text = report\(lambda: \(x\.sqrt\(\) \* 0\)\.sum\(\)\.backward\(\)\) "
        r"because it is the first bad value of the graph: all its inputs are finite\. "
        r"read more retrograd help nan-in-gradient", text)


def test_the_first_bad_value_of_the_forward_pass() -> None:
    def program() -> None:
        a, b = leaf(torch, 1., 2.), leaf(torch, 3., 0.)
        quotient = a / b
        (quotient.sin() + quotient).sum().backward()

    text = report(program)
    assert text.startswith("Function 'SinBackward0' returned nan values in its 0th output.")
    assert ("the first bad value of the forward pass: the result of Div has 1 inf among 2 elements, inf at [1], where "
            "x = 2.0, y = 0.0. DivBackward0, recorded at") in text
    assert "quotient = a / b" in text


def test_the_first_bad_value_of_the_backward_pass() -> None:
    def program() -> None:
        x = leaf(torch, 0.)
        ((x * 0).sqrt() * 1).sum().backward()

    text = report(program)
    assert text.startswith("Function 'MulBackward0' returned nan values in its 0th output.")
    assert ("the first bad value of the backward pass: the gradient of Sqrt for x has 1 inf among 1 element, inf at "
            "[0], where grad = 1.0, out = 0.0. SqrtBackward0, recorded at") in text


def test_a_bad_value_made_inside_of_a_function() -> None:
    class LogAgain(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.log()                                                                          # inside
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * (ctx.saved_tensors[0] * 0)

    text = report(lambda: LogAgain.apply(leaf(torch, 0., 1.)).sum().backward())
    assert text.startswith("Function 'LogAgainBackward' returned nan values in its 0th output.")
    assert "the first bad value of the forward pass: the result of LogAgain has 1 inf among 2 elements" in text
    assert re.search(rf'inside of it: divide by zero in log at File "{HERE}", line \d+, in forward\.', text)


def test_a_bad_value_made_outside_of_the_graph() -> None:
    def program() -> None:
        weights = torch.tensor([0., 1.]).log() * 0
        (leaf(torch, 1., 2.) * weights).sum().backward()

    text = report(program)
    assert "it was in the data: y has 1 nan among 2 elements, nan at [0]. It is a constant to MulBackward0." in text
    assert re.search(rf'outside of the graph: divide by zero in log at File "{HERE}", line \d+, in program\.', text)
    assert re.search(rf'outside of the graph: invalid value in mul at File "{HERE}", line \d+, in program\.', text)


def test_a_leaf_that_was_bad_from_the_start() -> None:
    def program() -> None:
        x, y = leaf(torch, 1., NAN, 2.), leaf(torch, 1., 1., 1.)
        ((x * 2) * y).sum().backward()

    assert ("it was in the data: a leaf of shape [3] has 1 nan among 3 elements, nan at [1]. It is used by "
            "MulBackward0.") in report(program)


def test_a_constant_that_was_bad_from_the_start() -> None:
    text = report(lambda: PROGRAMS["bad_target"][0](torch))
    assert "it was there in the forward pass: x has 1 nan among 2 elements, nan at [1]. It came from Sub" in text
    assert "So a constant brought it in, such as data or a target. SubBackward0, recorded at" in text


@pytest.mark.parametrize(("name", "culprit"), [
    ("cotangent", "the gradient that started the pass has nan."),
    ("cotangent_handed_on", "the gradient that started the pass has nan."),
    ("sum_of_infinities", "the gradients that came to it have no nan, but their sum has one: inf and -inf were added."),
    ("hook_on_a_gradient", "a hook on the gradient returned the nan."),
    ("hook_after_a_node", "a hook that ran after the node returned the nan."),
    ("function", "all values that led to it in the graph are finite; its other inputs are not known"),
    ("bad_parameter", "it was in the data: a leaf of shape [2, 2] has 1 nan among 4 elements, nan at [0, 0]."),
])
def test_who_brought_it(name: str, culprit: str) -> None:
    assert culprit in report(lambda: PROGRAMS[name][0](torch))


def test_an_infinite_constant_that_was_let_go() -> None:
    text = report(lambda: (torch.zeros(1, requires_grad=True).norm() * INF).backward())
    assert "So it was multiplied by an infinite constant, in MulBackward0 or before. MulBackward0, recorded" in text
    text = report(lambda: (leaf(torch, 1.) * 0).backward(torch.tensor([INF])))
    assert "the gradient that started the pass is not finite." in text


def test_the_nodes_that_a_node_was_recorded_in() -> None:
    def program() -> None:
        x = leaf(torch, 0.)
        y = x ** 1.5                                                                            # first
        g, = torch.autograd.grad(y.sum(), x, create_graph=True)                                 # second
        (g * 0).sum().backward()

    text = report(program)
    assert re.search(r"PowBackward0, recorded at \S*test_anomaly\.py:\d+ g, = .*# second in the backward of "
                     r"PowBackward0, recorded at \S*test_anomaly\.py:\d+ y = x \*\* 1\.5 # first", text)


def test_numbers_of_an_operation_that_is_not_point_by_point() -> None:
    text = report(lambda: PROGRAMS["one_of_a_sequence"][0](torch))
    assert "the gradient of Cat for xs[2] has 1 nan among 1 element" in text
    assert "grad = a tensor of shape [3] with elements that are not finite" in text


def test_float16_and_float64() -> None:
    for dtype in (torch.float16, torch.float64):
        x = torch.zeros(2, dtype=dtype, requires_grad=True)
        assert "has 2 nan among 2 elements" in report(lambda x=x: (x.sqrt() * 0).sum().backward())


# Errors of other kinds

def test_the_line_whose_backward_failed() -> None:
    text = report(lambda: PROGRAMS["function_that_raises"][0](torch), check_nan=False)
    assert re.match(r"boo node RaisesBackward, recorded at .*anomalies\.py:\d+ "
                    r"functions\(torch\)\[2\]\.apply\(leaf\(torch, 1\.\)\)\.sum\(\)\.backward\(\)", text)


def test_a_stale_value_is_told_with_the_line_that_saved_it() -> None:
    text = report(lambda: PROGRAMS["stale"][0](torch), check_nan=False)
    assert re.search(r"Good luck! saved by ExpBackward0, recorded at .*anomalies\.py:\d+ .* modified at "
                     r".*anomalies\.py:\d", text)


def test_where_the_forward_pass_was_outside_of_the_mode() -> None:
    loss = (leaf(torch, 0.).sqrt() * 0).sum()
    assert "SqrtBackward0; where is not known: anomaly mode was off then" in report(loss.backward)
    y = leaf(torch, 1.).exp()
    y += 1
    assert "Hint: enable anomaly detection to find the operation" in report(y.sum().backward)


def test_warnings_go_before_the_error() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError), detect_anomaly():
            PROGRAMS["second_order"][0](torch)
    enabled, first, second = [str(warning.message) for warning in caught]
    assert enabled.startswith("Anomaly Detection has been enabled. This mode will increase the runtime")
    assert re.match(r"Error detected in DivBackward0\. Traceback of forward call that caused the error:\n"
                    r'  File ".*anomalies\.py", line \d+, in second_order\n    g, = torch\.autograd\.grad', first)
    assert re.match(r"\n\nPrevious calculation was induced by SqrtBackward0\. Traceback of forward call that induced "
                    r"the previous calculation:\n  File ", second)
    assert caught[0].filename == __file__


def test_a_pass_in_a_backward_of_a_function() -> None:
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with torch.enable_grad():
                (leaf(torch, 0.).sqrt() * 0).sum().backward()
            return g

    text = report(lambda: Inner.apply(leaf(torch, 1.)).sum().backward())
    assert text.startswith("Function 'SqrtBackward0' returned nan values")
    assert "in the backward of InnerBackward, recorded at" in text
    assert "node InnerBackward, recorded at" in text


# Switching, and what is left behind

def test_it_is_one_mode_for_all_threads() -> None:
    seen: list[Any] = []
    switch, ready = threading.Event(), threading.Event()

    def work() -> None:
        _ = leaf(torch, 1.) * 2                             # the thread is there before the mode
        ready.set()
        switch.wait()
        seen.append(torch.is_anomaly_enabled())
        try:
            (leaf(torch, 0.).sqrt() * 0).sum().backward()
        except RuntimeError as error:
            seen.append(str(error))

    for early in (True, False):
        thread = threading.Thread(target=work)
        if early:
            thread.start()
            ready.wait()
        with set_detect_anomaly(True):
            if not early:
                thread.start()
            switch.set()
            thread.join()
    assert [text if text is True else text.partition(" returned")[0] for text in seen] == [
        True, "Function 'SqrtBackward0'"] * 2


def test_numpy_warns_as_the_program_has_set_it() -> None:
    with set_detect_anomaly(True):
        before = np.geterr()
        assert torch.tensor([0.]).log().item() == -INF
        assert np.geterr() == before
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.log(np.zeros(1))


def test_other_watchers_stay() -> None:
    seen: list[str] = []

    def watcher(node: Any, results: Any, operands: Any) -> None:
        seen.append(node.name())

    before = local.thread.watchers
    with set_detect_anomaly(True):
        local.thread.watchers = (*local.thread.watchers, watcher)
        _ = leaf(torch, 1.) * 2
    try:
        _ = leaf(torch, 1.).exp()
        assert seen == ["MulBackward0", "ExpBackward0"]
    finally:
        local.thread.watchers = before


def test_under_a_profile() -> None:
    with torch.autograd.profiler.profile() as prof:
        text = report(lambda: (leaf(torch, 0.) / leaf(torch, 0.)).sum().backward())
    assert "the first bad value of the forward pass: the result of Div has 1 nan among 1 element" in text
    assert "aten::div" in [event.key for event in prof.key_averages()]
    with set_detect_anomaly(True), torch.autograd.profiler.profile(), pytest.raises(RuntimeError, match="SqrtBackw"):
        (leaf(torch, 0.).sqrt() * 0).sum().backward()


def test_nodes_of_every_kind_know_their_line() -> None:
    with set_detect_anomaly(True):
        x = leaf(torch, 1., 2., 3., 4.)
        y = x * 1
        view = y[:2]
        y.mul_(2)
        made = [x.exp(), x + x, x.sum(0), x.view(2, 2), torch.cat([x, x]), x.unbind()[1], x.sort()[0], y, view,
                torch.nn.functional.linear(x, torch.ones(3, 4), torch.ones(3)), _Twice.apply(x)]
        assert view.grad_fn.name() == "AsStridedBackward0"
        z = x * 1
        z[:1] = 5
        made.append(z)
    for tensor in made:
        site = site_of(behind(tensor.grad_fn))
        assert site is not None, tensor.grad_fn
        assert site.code.co_name == "test_nodes_of_every_kind_know_their_line"
    assert site_of((x * 2).grad_fn) is None


class _Twice(torch.autograd.Function):
    """Its context has an attribute of the name of a slot of its node."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.origin = ctx.site = "the author's own"
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def test_an_attribute_of_a_context_is_no_origin() -> None:
    assert site_of(behind(_Twice.apply(leaf(torch, 1.)).grad_fn)) is None


@pytest.mark.usefixtures("no_collector")
def test_a_parent_is_let_go_with_its_child() -> None:
    class Note:
        pass

    x = leaf(torch, 1.)
    with set_detect_anomaly(True):
        y = x.exp()
        g, = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
    note = Note()
    y.grad_fn.metadata[0] = note
    gone = weakref.ref(note)
    del note, y
    assert gone() is not None
    del g
    assert gone() is None


def test_the_mode_costs_little() -> None:
    """The aim is 1.3 times a pass without it; the bound leaves room for what else the machine does."""
    x = torch.rand(2, 3).add(1).requires_grad_()
    y = x.detach().requires_grad_()                        # so the products stay at 1

    def step() -> float:
        start = time.thread_time()
        z = torch.ones(2, 3)
        for _ in range(300):
            z = (z / x) * y
        z.sum().backward()
        return time.thread_time() - start

    best = {True: INF, False: INF}
    for _ in range(15):
        for mode in (False, True):
            with set_detect_anomaly(mode):
                best[mode] = min(best[mode], step())
    assert best[True] < 1.8 * best[False]
