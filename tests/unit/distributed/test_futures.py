"""torch.futures, without PyTorch."""

import threading

import pytest

import retrograd as torch
from retrograd.futures import Future, collect_all, wait_all


def test_a_future_waits_for_the_value_of_another_thread() -> None:
    future: Future[int] = Future()
    assert not future.done()
    thread = threading.Timer(0.01, future.set_result, (3,))
    thread.start()
    assert future.wait() == future.value() == 3
    assert future.done()
    thread.join()


def test_functions_run_once_when_the_value_is_there() -> None:
    future: Future[int] = Future()
    seen: list[int] = []
    after = future.then(lambda done: done.wait() + 1)
    future.add_done_callback(lambda done: seen.append(done.value()))
    future.add_done_callback(lambda done: seen.append(1 // 0))       # its error is dropped
    assert not after.done()
    assert seen == []
    future.set_result(3)
    assert (after.wait(), seen) == (4, [3])
    assert future.then(lambda done: done.value()).value() == 3


def test_errors_take_the_place_of_values() -> None:
    future: Future[int] = Future()
    after = future.then(lambda done: done.value())
    future.set_exception(ValueError("x"))
    for ask in (future.wait, future.value):
        with pytest.raises(ValueError, match="^x$"):
            ask()
    with pytest.raises(RuntimeError, match="^Got the following error when running the callback: ValueError: x"):
        after.wait()


@pytest.mark.parametrize("again", [lambda f: f.set_result(4), lambda f: f.set_exception(ValueError("x"))])
def test_a_future_is_completed_once(again: object) -> None:
    future: Future[int] = Future()
    future.set_result(3)
    with pytest.raises(RuntimeError, match="^Attempting to mark a completed Future as complete again"):
        again(future)  # type: ignore[operator]
    assert future.value() == 3


def test_several_futures_are_done_together() -> None:
    first, second = Future[int](), Future[int]()
    both = collect_all([first, second])
    first.set_exception(ValueError("q"))
    assert not both.done()
    second.set_result(1)
    with pytest.raises(ValueError, match="^q$"):
        both.wait()
    with pytest.raises(ValueError, match="^q$"):
        wait_all([second, first])
    assert wait_all([second, second]) == [1, 1]
    assert collect_all([]).wait() == wait_all([]) == []


def test_what_is_no_function_no_error_or_no_device_is_refused() -> None:
    future: Future[int] = Future()
    with pytest.raises(RuntimeError, match=r"^completed\(\) INTERNAL ASSERT FAILED"):
        future.value()
    with pytest.raises(AssertionError, match="^no is of type <class 'str'>, not an Exception.$"):
        future.set_exception("no")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^then\(\): incompatible function arguments."):
        future.then(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^add_done_callback\(\): incompatible function arguments."):
        future.add_done_callback(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^Expected devices to have indices, got cpu$"):
        Future(devices=["cpu"])


def test_the_future_of_a_fork_is_a_future() -> None:
    future = torch.jit.fork(lambda x: x + 1, torch.ones(2))
    assert isinstance(future, torch.Future)
    assert torch.jit.Future is Future
    assert future.done()
    assert torch.jit.wait(future).tolist() == [2, 2]
    with pytest.raises(ZeroDivisionError):
        torch.jit.fork(lambda: 1 // 0)
