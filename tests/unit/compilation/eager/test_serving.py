"""How machine code of kernels is made, kept and switched off, and what else must work with it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import retrograd as torch
from needing import needs, on_unix
from retrograd.compilation.eager import serving, store
from retrograd.foundations.modes import Waiting
from retrograd.kernels.native.served import Served

from .served_calls import noted

pytestmark = needs("llvmlite")


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for object code, and no machine code that is known."""
    serving.wait()
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))
    known = {**serving._Making.known}
    serving._Making.known.clear()
    yield tmp_path
    serving.wait()
    serving._Making.known.update(known)


def rows() -> Any:
    return torch.randn(300, 200, generator=torch.Generator().manual_seed(0))


def python(program: str, **environment: str) -> str:
    """What a program prints."""
    found = subprocess.run([sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True,
                           text=True, check=True, timeout=120)
    return found.stdout


def test_numpy_serves_until_machine_code_is_made(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Waiting, "on", False)
    x, go = rows(), threading.Event()
    begin = serving._make

    def make() -> None:
        go.wait()
        begin()

    monkeypatch.setattr(serving, "_make", make)
    with torch.backends.native.flags(enabled=False):
        plain = torch.softmax(x, 1)
    assert torch.softmax(x, 1).equal(plain)
    assert not [*fresh.iterdir()]
    go.set()
    torch.backends.native.wait()
    assert len([*fresh.glob("*.o")]) == 1
    assert len([ready for ready in serving._Making.known.values() if ready is not None]) == 1
    torch.testing.assert_close(torch.softmax(x, 1), plain)


def test_one_machine_code_serves_all_shapes(fresh: Path) -> None:
    for shape in ((300, 200), (2, 3, 7000), (40_000, 3)):
        with noted() as found:
            torch.softmax(torch.randn(shape), -1)
        assert len(found) == 1
    assert len([*fresh.glob("*.o")]) == 1


def test_object_code_is_found_again_and_damaged_files_are_made_anew(fresh: Path) -> None:
    x = rows()
    first = torch.softmax(x, 1)
    (file,) = fresh.iterdir()
    whole = file.read_bytes()
    for content in (whole, whole[:-1], whole[:60], b"", whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]):
        file.write_bytes(content)
        serving._Making.known.clear()
        assert torch.softmax(x, 1).equal(first)
        assert [*fresh.iterdir()] == [file]
        assert file.read_bytes() == whole


def test_another_version_has_other_files(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = rows()
    torch.softmax(x, 1)
    monkeypatch.setattr(store, "_made_by", lambda: "another processor")
    serving._Making.known.clear()
    torch.softmax(x, 1)
    assert len([*fresh.iterdir()]) == 2


def test_another_c_library_has_other_files(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = rows().double()
    torch.expm1(x)
    monkeypatch.setattr(store, "library", lambda: "glibc 2.28, which has fewer vector functions")
    store._made_by.cache_clear()
    serving._Making.known.clear()
    torch.expm1(x)
    monkeypatch.undo()
    store._made_by.cache_clear()
    assert len([*fresh.iterdir()]) == 2


def test_a_folder_that_cannot_be_written_keeps_nothing(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (fresh / "file").write_text("")
    for place in (str(fresh / "file" / "below"), ""):
        monkeypatch.setenv(store.VARIABLE, place)
        serving._Making.known.clear()
        with noted() as found:
            torch.softmax(rows(), 1)
        assert len(found) == 1
    assert [each.name for each in fresh.iterdir()] == ["file"]


def test_several_processes_write_at_once(fresh: Path) -> None:
    program = ("import retrograd as t; x = t.arange(60000.).reshape(300, 200)\n"
               "print(t.softmax(x / 1e4, 1).sum().item())")
    processes = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
                 for _ in range(3)]
    assert len({process.communicate()[0] for process in processes}) == 1
    assert len([*fresh.iterdir()]) == 1


def test_the_switches() -> None:
    x = rows()
    assert torch.backends.native.enabled
    assert torch.backends.native.is_available()
    torch.backends.native.enabled = False
    try:
        assert not Served.on
        plain = torch.softmax(x, 1)
    finally:
        torch.backends.native.enabled = True
    with noted() as found:
        with torch.backends.native.flags(enabled=False):
            assert torch.softmax(x, 1).equal(plain)
        assert found == []
        torch.softmax(x, 1)
    assert len(found) == 1


def test_calls_wait_unless_they_are_asked_not_to() -> None:
    assert Waiting.on
    with torch.backends.native.flags(wait=False):
        assert not Waiting.on
    assert Waiting.on


def test_small_calls_and_imports_do_not_reach_llvmlite() -> None:
    program = ("import sys, retrograd as t; x = t.randn(10, 100, requires_grad=True)\n"
               "t.softmax(x, 1).sin().sum().backward()\n"
               "names = 'llvmlite', 'retrograd.compilation'\nprint([name for name in names if name in sys.modules])\n"
               "t.softmax(t.randn(300, 200), 1); print('llvmlite.binding' in sys.modules)")
    assert python(program) == "[]\nTrue\n"


def test_the_environment_turns_it_off() -> None:
    program = ("import sys, retrograd as t; t.softmax(t.randn(300, 200), 1); b = t.backends.native\n"
               "b.enabled = True; print(b.enabled, b.is_available(), b.reasons(), 'llvmlite' in sys.modules)")
    assert python(program, RETROGRAD_NATIVE="0") == "False False {} False\n"


def test_without_llvmlite_numpy_serves() -> None:
    program = ("import sys\nimport importlib.util as u; find = u.find_spec\n"
               "u.find_spec = lambda name, *a: None if name == 'llvmlite' else find(name, *a)\n"
               "import retrograd as t; x = t.randn(300, 200); t.softmax(x, 1); t.softmax(x, 1)\n"
               "print(t.backends.native.is_available(), [n for n in sys.modules if 'llvmlite' in n or '.eager' in n])")
    assert python(program) == "False []\n"


@on_unix
def test_a_forked_process_makes_its_own() -> None:
    program = ("import os, retrograd as t; x = t.randn(300, 200)\n"
               "with t.backends.native.flags(wait=False): t.softmax(x, 1)\n"
               "pid = os.fork()\n"
               "y = t.log_softmax(x, 1); ok = bool(t.isfinite(y).all())\n"
               "code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if pid else 0\n"
               "os._exit(0 if ok else 1) if not pid else print(ok, code)")
    assert python(program, RETROGRAD_CACHE="") == "True 0\n"


@on_unix
def test_a_process_may_be_forked_while_machine_code_is_made() -> None:
    program = ("import os, time, retrograd as t; x = t.randn(300, 200); codes = []\n"
               "for f in (t.softmax, t.log_softmax):\n    f(x, 1)\n    for i in range(4):\n"
               "        time.sleep(0.03); pid = os.fork()\n        if not pid:\n"
               "            t.use_deterministic_algorithms(True); f(x, 1); t.nn.functional.silu(x); os._exit(0)\n"
               "        codes.append(os.waitpid(pid, 0)[1])\nprint(codes)")
    assert python(program, RETROGRAD_CACHE="") == f"{[0] * 8}\n"


def test_an_interrupted_call_leaves_numpy_serving(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = rows()

    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "kept", interrupted)
    with pytest.raises(KeyboardInterrupt):
        torch.softmax(x, 1)
    monkeypatch.undo()
    with noted() as found:
        torch.testing.assert_close(torch.softmax(x, 1).sum(1), torch.ones(300))
    assert len(found) == 1


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), KeyboardInterrupt()])
def test_a_thread_that_does_not_start_leaves_numpy_serving(
        error: BaseException, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, tried = rows(), list[Any]()

    def start(self: threading.Thread) -> None:
        tried.append(self)
        raise error

    monkeypatch.setattr(threading.Thread, "start", start)
    for count in (1, 2):
        with noted() as found:
            if isinstance(error, RuntimeError):
                torch.testing.assert_close(torch.softmax(x, 1).sum(1), torch.ones(300))
            else:
                with pytest.raises(KeyboardInterrupt):
                    torch.softmax(x, 1)
        assert (found, len(tried)) == ([], count)
    monkeypatch.undo()
    with noted() as found:
        torch.softmax(x, 1)
    assert len(found) == 1


def test_a_call_waits_for_a_thread_that_another_call_starts(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, start, results, begun = rows(), threading.Thread.start, list[Any](), threading.Event()

    def slow(self: threading.Thread) -> None:
        if self.name == "retrograd machine code":
            torch.backends.native.wait()                    # as a handler of a signal may do
            begun.set()
            time.sleep(0.3)
        start(self)

    monkeypatch.setattr(threading.Thread, "start", slow)
    other = threading.Thread(target=lambda: results.append(torch.softmax(x, 1)))
    other.start()
    begun.wait(10)
    with noted() as found:
        results.append(torch.softmax(x, 1))
    other.join()
    assert len(found) == 1
    assert results[0].equal(results[1])


def test_an_error_of_the_compiler_leaves_numpy_serving(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> Any:
        raise OSError("no LLVM today")

    monkeypatch.setattr("retrograd.compilation.eager.making.object_code", broken)
    with noted() as found:
        torch.testing.assert_close(torch.softmax(rows(), 1).sum(1), torch.ones(300))
    assert found == []
    assert "OSError: no LLVM today" in torch.backends.native.reasons().values()


def test_a_broken_llvmlite_leaves_numpy_serving(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise OSError("llvmlite is broken")

    monkeypatch.setattr(store, "_made_by", broken)
    for _ in range(2):
        torch.testing.assert_close(torch.softmax(rows(), 1).sum(1), torch.ones(300))
    assert "OSError: llvmlite is broken" in torch.backends.native.reasons().values()


def test_threads_call_at_once() -> None:
    x, results = rows(), list[Any]()
    want = torch.softmax(x, 1)
    threads = [threading.Thread(target=lambda: results.extend([torch.softmax(x, 1) for _ in range(20)]))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    assert all([result.equal(want) for result in results])


# What else takes calls over

def step(x: Any) -> Any:
    return torch.nn.functional.gelu(torch.softmax(x * 3, 1)).sin().sum()


def test_gradients_with_and_without_machine_code() -> None:
    grads = []
    for on in (True, False):
        x = rows().requires_grad_()
        with torch.backends.native.flags(enabled=on, wait=True):
            step(x).backward()
        grads.append(x.grad)
    torch.testing.assert_close(*grads)


def test_other_takers_of_calls_see_the_same_numbers() -> None:
    x = rows()
    whole = torch.softmax(x, 1)
    batch = torch.vmap(lambda row: torch.softmax(row, 0))(x)
    torch.testing.assert_close(batch, whole)
    _, tangent = torch.func.jvp(step, (x,), (torch.ones_like(x),))
    leaf = x.clone().requires_grad_()
    with torch.autograd.set_detect_anomaly(True):
        step(leaf).backward()
    torch.testing.assert_close(tangent, leaf.grad.sum(), rtol=1e-3, atol=1e-4)
    compiled = torch.compile(step)
    torch.testing.assert_close(compiled(x), step(x))
    torch.testing.assert_close(compiled(x), step(x))

    class Kind(torch.Tensor):
        pass

    kind = torch.softmax(x.as_subclass(Kind), 1)
    assert type(kind) is Kind
    assert kind.as_subclass(torch.Tensor).equal(whole)

    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        seen: ClassVar[list[str]] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        seen = torch.softmax(x, 1)
    assert seen.equal(whole)
    assert Mode.seen == ["aten._softmax.default"]


def test_a_first_large_call_in_a_trace_does_not_end_the_trace() -> None:
    program = ("import warnings, retrograd as t; warnings.simplefilter('error')\n"
               "x = t.randn(300, 200); f = t.compile(lambda x: t.softmax(x, 1).sin().sum())\n"
               "f(x); t.testing.assert_close(f(x), t.softmax(x, 1).sin().sum()); print('right')")
    assert python(program, RETROGRAD_CACHE="") == "right\n"


def test_double_backward_is_recorded_as_ever() -> None:
    x = rows().double().requires_grad_()
    (first,) = torch.autograd.grad(step(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), x)
    with torch.backends.native.flags(enabled=False):
        (want,) = torch.autograd.grad(torch.autograd.grad(step(x), x, create_graph=True)[0].square().sum(), x)
    np.testing.assert_allclose(second.numpy(), want.numpy(), rtol=1e-9, atol=1e-12)
