"""The first call of a compiled function puts off elementwise calls. Nobody sees memory that waits for its numbers."""

from __future__ import annotations

import copy
import io
import json
import pickle
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from programs.putting_off import counts, numbers, put_off_everything, step, x

__all__ = ["counts"]                                       # the fixture


def alike(function: Callable[..., Any], *args: Any, **options: Any) -> None:
    """The first call and the second one see and leave what the function without compiling sees and leaves."""
    plain, held = copy.deepcopy(args), copy.deepcopy(args)
    ready = torch.compile(function, backend="numpy", **options)
    for _ in range(2):
        with warnings.catch_warnings(action="ignore"):
            expected, found = function(*plain), ready(*held)
        assert numbers(found) == numbers(expected)
        for one, other in zip(held, plain, strict=True):
            assert numbers(one) == numbers(other)
            if isinstance(one, torch.Tensor):
                assert numbers(one.grad) == numbers(other.grad)


def test_a_step_is_put_off_as_a_whole(counts: Counter[str]) -> None:
    alike(step, x(grad=True))
    assert counts["sin"] == counts["sum"]
    assert counts["mul"] >= 4


resize = torch.Tensor.resize_                              # the walk refuses code with the name
LOOKS: dict[str, Callable[[Any], Any]] = {
    "item": lambda y: y[0, 0].item(), "list": lambda y: y.tolist(), "text": str, "numpy": lambda y: y.numpy().tolist(),
    "array": lambda y: np.asarray(y).tolist(), "bool": lambda y: bool(y[0, 0] > 0), "float": lambda y: float(y.sum()),
    "copy": lambda y: copy.deepcopy(y).tolist(), "pickle": lambda y: pickle.loads(pickle.dumps(y)).tolist(),
    "equal": lambda y: torch.equal(y, y * 1), "index": lambda y: [1, 2, 3][int(y[0, 0] > 0)],
    "tensor": lambda y: torch.tensor(y).tolist(), "applied": lambda y: y.clone().apply_(lambda n: n + 1).tolist(),
    "moved": lambda y: y.share_memory_().tolist(), "typed": lambda y: torch.tensor([1.0]).set_(y).tolist(),
    "nonzero": lambda y: y.nonzero().tolist(), "mask": lambda y: y[y > 0],
    "iteration": lambda y: [row.tolist() for row in y], "resize": lambda y: resize(y.clone(), 2, 2).tolist(),
    "shared": lambda y: y.detach().T.numpy().tolist(), "numpy function": lambda y: np.sin(y).tolist(),
    "capsule": lambda y: torch.from_dlpack(y).tolist(), "capsule for NumPy": lambda y: np.from_dlpack(y).tolist()}


@pytest.mark.parametrize("look", LOOKS)
def test_who_looks_at_numbers_sees_them(counts: Counter[str], look: str) -> None:
    looks = LOOKS[look]

    def function(a: Any) -> Any:
        y = (a * 2).exp() + 1
        seen = looks(y)
        return y - 1, seen

    alike(function, x())
    assert counts["exp"]


REFUSED: dict[str, Callable[[Any], Any]] = {
    "resize": lambda y: y.clone().resize_(2, 2).tolist(),
    "storage": lambda y: y.untyped_storage().tolist(), "saved": lambda y: torch.save(y, io.BytesIO()),
    "pointer": lambda y: y.data_ptr() != 0, "real memory": lambda y: memoryview(y.numpy()).tolist()}


@pytest.mark.parametrize("look", REFUSED)
def test_a_function_that_may_look_at_memory_itself_is_not_traced(look: str) -> None:
    looks = REFUSED[look]
    alike(lambda a: (a * 2, looks(a * 2)), x())


@pytest.mark.parametrize("reads", [
    lambda y: y @ y.T, lambda y: y.sum(0), lambda y: y.softmax(-1), lambda y: y.sort(0)[0], lambda y: y[:, [0, 2]],
    lambda y: torch.cat([y, y]), lambda y: torch.stack([y.T, y.T]), lambda y: y.T + 1, lambda y: y[1:] * y[:-1],
    lambda y: y.to(torch.int64), lambda y: y.half() * 2, lambda y: y.data + 1, lambda y: y.data.T.cumsum(0),
    lambda y: y.as_strided((2, 2), (1, 3)).contiguous(), lambda y: y.unfold(0, 2, 1).prod(-1), lambda y: y.argmax(),
    lambda y: torch.isin(y.round(), y[0].round()), lambda y: torch.linalg.svdvals(y),
    lambda y: torch.linalg.eigvals(y[:3]), lambda y: torch.linalg.eigvalsh(y[:3] + y[:3].T),
    lambda y: y.clone(memory_format=torch.preserve_format).T.clone(), lambda y: torch.view_as_real(y + 0j) * 2,
    lambda y: y.view(1, 2, 2, 3).clone(memory_format=torch.channels_last),
    lambda y: y.view(1, 2, 2, 3).contiguous(memory_format=torch.channels_last), lambda y: y.expand(2, 4, 3).sum(0),
    lambda y: y.detach().view(-1)[::2] * 3, lambda y: torch.nn.functional.gelu(y)])
def test_calls_that_are_not_put_off_read_numbers(counts: Counter[str], reads: Callable[[Any], Any]) -> None:
    alike(lambda a: (reads(a * 2 + 1), a * 3), x())


@pytest.mark.parametrize("draws", [
    lambda y: torch.rand_like(y), lambda y: torch.nn.functional.dropout(y), lambda y: torch.bernoulli(y.sigmoid()),
    lambda y: torch.normal(y, 1.0)])
def test_random_numbers_are_drawn_once(counts: Counter[str], draws: Callable[[Any], Any]) -> None:
    def function(a: Any) -> Any:
        y = a * 2
        drawn = draws(y)
        return drawn * y, drawn + 1

    given, state = x(), torch.get_rng_state()
    expected = [numbers(function(given)) for _ in range(2)]
    torch.set_rng_state(state)
    ready = torch.compile(function, backend="numpy")
    assert [numbers(ready(given)) for _ in range(2)] == expected


@pytest.mark.parametrize("write", [
    lambda a, y: a.add_(1), lambda a, y: y.mul_(2), lambda a, y: a.zero_(), lambda a, y: a[0].fill_(7.0),
    lambda a, y: a.data.sub_(1), lambda a, y: y.T.add_(a.T), lambda a, y: torch.add(a, 1, out=a),
    lambda a, y: a.normal_(), lambda a, y: a.view(-1).sin_(), lambda a, y: y.copy_(a), lambda a, y: a.detach().exp_(),
    lambda a, y: a.t_()])
@pytest.mark.sampled(3)
def test_writes_come_after_what_reads_their_memory(counts: Counter[str], write: Callable[[Any, Any], Any]) -> None:
    def function(a: Any) -> Any:
        y = a * 2 + 1
        torch.manual_seed(3)
        write(a, y)
        return y, y * 3, a + 1

    alike(function, x())


def test_training_steps(counts: Counter[str]) -> None:
    def trained(change: Callable[[Any], Any]) -> Any:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

        @change
        def step(a: Any) -> Any:
            optimizer.zero_grad()
            loss = (model(a).sigmoid() ** 2).mean()
            loss.backward()
            optimizer.step()
            schedule.step()
            return loss.detach()

        losses = [step(x(5, 3)) for _ in range(4)]
        return numbers([*losses, *model.parameters(), *[p.grad for p in model.parameters()]])

    assert trained(lambda f: torch.compile(f, backend="numpy")) == trained(lambda f: f)


def test_an_error_in_the_function_leaves_numbers(counts: Counter[str]) -> None:
    held: list[Any] = []

    def function(a: Any) -> Any:
        y = a * 2 + 1
        held.append(y)
        held.append(y.T)
        raise ValueError("enough")

    given = x()
    with pytest.raises(ValueError, match="enough"):
        torch.compile(function, backend="numpy")(given)
    assert numbers(held) == numbers([given * 2 + 1, (given * 2 + 1).T])


@pytest.mark.parametrize("stop", [lambda y: print(end=""), lambda y: y.tolist(), lambda y: torch.manual_seed(0),
                                  lambda y: y.register_hook(lambda g: g * 2)])
def test_a_run_that_is_given_up_has_its_numbers(counts: Counter[str], stop: Callable[[Any], Any]) -> None:
    def function(a: Any) -> Any:
        y = a * 2 + 1
        stop(y)
        return y * 2, y + 1

    alike(function, x(grad=True))


def test_the_whole_graph_is_asked_for(counts: Counter[str]) -> None:
    held: list[Any] = []

    def function(a: Any) -> Any:
        held.append(a * 2)
        a.add_(1)
        return float((a * 3).sum())

    given, before = x(), x()
    with pytest.raises(RuntimeError, match="looks at the numbers"):
        torch.compile(function, backend="numpy", fullgraph=True)(given)
    assert numbers(held[0]) == numbers(before * 2)
    assert given.tolist() == before.tolist()
    alike(lambda a: (a * 2).exp(), x(), fullgraph=True)


def test_hooks_see_numbers(counts: Counter[str]) -> None:
    def function(a: Any) -> Any:
        seen = []
        y = a.exp() * 2
        y.register_hook(lambda g: seen.append(g.tolist()))
        y.sin().sum().backward()
        return seen, a.grad * 2

    alike(function, x(grad=True))


def test_saved_values_of_a_later_backward(counts: Counter[str]) -> None:
    for again in range(2):
        results = []
        for change in (lambda f: f, lambda f: torch.compile(f, backend="numpy")):
            a, b = x(grad=True), x(3, 3, grad=True)
            y, z = change(lambda a, b: ((a.exp() @ b).tanh() * 2, a.sin() * a.cos()))(a, b)
            (y.sum() + z.prod()).backward()
            results.append(numbers([y, z, a.grad, b.grad]))
        assert results[0] == results[1], again


def test_what_may_raise_an_error_is_not_put_off(counts: Counter[str]) -> None:
    def function(n: Any, refused: Callable[[Any], Any]) -> Any:
        held.append(n * 2)
        return refused(n * 1), held.append(n)

    for given, refused in ((torch.arange(3), lambda n: n // (n - n)),
                           (torch.ones(3), lambda n: torch.special.legendre_polynomial_p(n / 2, n * 1e30))):
        seen = []
        for ready in (function, torch.compile(function, backend="numpy")):
            held: list[Any] = []
            with pytest.raises(RuntimeError) as error:
                ready(given, refused)
            seen.append((str(error.value), numbers(held)))
        assert seen[0] == seen[1]
    assert "legendre_polynomial_p" not in counts


def test_bad_numbers_give_no_warnings(counts: Counter[str]) -> None:
    def function(a: Any) -> Any:
        y = (a - a).log() / (a - a)
        return y * 2, y.cumsum(0)

    given = x(5000, 8)
    with np.errstate(all="raise"):
        assert numbers(torch.compile(function, backend="numpy")(given)) == numbers(function(given))
    with warnings.catch_warnings(action="error"):
        assert numbers(torch.compile(function, backend="numpy")(given)) == numbers(function(given))
    assert counts["log"]


def test_numpy_arrays_write_to_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    put_off_everything(monkeypatch.setattr, planned=False)
    memory = np.ones(3, np.float32)
    shared = torch.from_numpy(memory)

    def function(a: Any) -> Any:
        y = a + shared
        memory[0] += 1
        return y * 2

    with warnings.catch_warnings(action="ignore"):
        found = numbers(torch.compile(function, backend="numpy")(x()))
    memory[0] = 1
    assert found == numbers(function(x()))


OPERANDS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "float64": lambda: (x(dtype=torch.float64), x(dtype=torch.float64)), "mixed": lambda: (x(), x(dtype=torch.float64)),
    "complex": lambda: (x(dtype=torch.complex64), x()), "half": lambda: (x().half(), x()),
    "brain": lambda: (x().bfloat16(), x()), "ints": lambda: (x().mul(9).long(), x()), "bools": lambda: (x() > 0, x()),
    "none": lambda: (x(0, 3), x(3)), "a number": lambda: (x()[0, 0].clone(), x()), "rows": lambda: (x(1, 3), x()),
    "columns": lambda: (x(4, 1), x()), "an outer product": lambda: (x(4, 1), x(1, 3)), "a bias": lambda: (x(3), x()),
    "turned": lambda: (x(3, 4).T, x()), "both turned": lambda: (x(3, 4).T, x(3, 4).T),
    "gaps": lambda: (x(8, 3)[::2], x()),
    "one repeated": lambda: (x()[0, 0].expand(4, 3), x()), "repeated rows": lambda: (x(3).expand(4, 3), x(3, 4).T),
    "numbers repeated": lambda: (x(1)[0].expand(4, 3), x(2)[1].expand(4, 3)),
    "repeated and strange": lambda: (x(1)[0].expand(4, 1, 3), x(4, 3).as_strided((4, 1, 3), (3, 1, 1))),
    "repeated and a bias": lambda: (x(1)[0].expand(4, 3), x(3)), "sizes that do not fit": lambda: (x(), x(5, 3)),
    "repeated and turned": lambda: (x()[0, 0].expand(4, 3), x(3, 4).T), "ones": lambda: (x(1, 4, 1), x(1)),
    "strange strides": lambda: (x(4, 3).as_strided((4, 1, 3), (3, 1, 1)), x(4, 1, 3)),
    "large rows": lambda: (x(300, 200), x(200)), "large and flat": lambda: (x(70_001), x(70_001)),
    "the same twice": lambda: (x(),) * 2,
    "a view of the other": lambda: (lambda a: (a, a.view(3, 4)))(x())}


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=needs("ml_dtypes")) if kind == "brain" else kind
                                  for kind in OPERANDS])
@pytest.mark.sampled(2)
def test_operands(counts: Counter[str], kind: str) -> None:
    def function(a: Any, b: Any) -> Any:
        if b.shape == (3, 4):
            b = b.reshape(4, 3)
        y = torch.where((a * 2).abs() > b.abs(), a + b, b)
        found = [y.abs(), y.expand(2, *y.shape) * 1, y.clone(), (y * 2).contiguous(), (y[..., None] * 2).squeeze(-1),
                 -y * y[..., :1], b.contiguous() * 2, b.to(torch.complex128) * y, a.clone(), b.clone(), a.to(y.dtype),
                 ~(a == b), torch.ones_like(y), y.sum(dtype=y.dtype) if kind == "none" else y]
        if not y.is_complex() and y.is_floating_point():
            found += [torch.nn.functional.gelu(y * 1).clamp(-1, 1), b.to(torch.float64) * y]
        return [*found, (y + 1).sum(), (y + 1.5).mean() if y.is_complex() or y.is_floating_point() else y]

    def caught(a: Any, b: Any) -> Any:
        try:
            return function(a, b)
        except RuntimeError as error:
            return str(error)

    alike(caught, *OPERANDS[kind]())


def of_each_dtype(a: Any) -> Any:
    y = a * 2
    return y.sum(dtype=torch.float32), y.mean(dtype=torch.float32), y.sum(dtype=torch.float64), y.sum(), y.mean()


def of_one_number(a: Any) -> Any:
    e = a[0].expand(400_001)                               # is no row in memory
    return e * a, e.sum(), (e * 2).sum()


@pytest.mark.parametrize("function", [of_each_dtype, of_one_number])
def test_sums(counts: Counter[str], function: Callable[[Any], Any]) -> None:
    for factor in range(1, 9):
        given = x(400_001) * factor / 7
        assert numbers(torch.compile(function, backend="numpy")(given)) == numbers(function(given))


def test_a_trace_that_begins_again(counts: Counter[str]) -> None:
    box: dict[int, Any] = {}

    def function(a: Any) -> Any:
        a.add_(1)
        y = box[len(box)] = a * 3
        json.dumps(a.shape[0])                             # no trace for many sizes may do this
        return y * 2

    ready = torch.compile(function, backend="numpy")
    for size in (4, 6):
        given = x(size, 3)
        assert numbers(ready(given)) == numbers((x(size, 3) + 1) * 6)
        assert given.tolist() == (x(size, 3) + 1).tolist()
    assert len(box) == 2                                   # the second call began again, and left one result
    assert numbers(box[1]) == numbers((x(6, 3) + 1) * 3)


def test_sizes_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    put_off_everything(monkeypatch.setattr, planned=False)

    def function(a: Any) -> Any:
        y = (a * 2).exp() + a.shape[0]
        return y.sum(0) / y.shape[0], y

    ready = torch.compile(function, backend="numpy", dynamic=True)
    for size in (4, 6, 9, 12, 5):
        assert numbers(ready(x(size, 3))) == numbers(function(x(size, 3)))
