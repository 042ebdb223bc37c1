"""Transforms of functions in odd circumstances: errors inside, other modes, threads, empty batches, text, memory.

The expected values and messages are PyTorch's, except where a test says otherwise.
"""

import copy
import gc
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import retrograd as torch
from retrograd.autograd import forward_ad
from retrograd.foundations.modes import local
from retrograd.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

ONE = torch.tensor(1.0)


def state() -> tuple[Any, ...]:
    thread = local.thread
    return (thread.grad, thread.inference, thread.levels, thread.transform, thread.watchers, thread.functions,
            thread.passes, thread.walk)


TRANSFORMS: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "vmap": lambda f: vmap(f)(torch.ones(2)),
    "grad": lambda f: grad(f)(ONE),
    "jvp": lambda f: jvp(f, (ONE,), (ONE,)),
    "vjp": lambda f: vjp(f, ONE),
    "linearize": lambda f: linearize(f, ONE),
    "jacrev": lambda f: jacrev(f)(ONE),
    "jacfwd": lambda f: jacfwd(f)(ONE),
    "hessian": lambda f: hessian(f)(ONE),
    "vmap of grad of jvp": lambda f: vmap(grad(lambda x: jvp(f, (x,), (x,))[1]))(torch.ones(2)),
    "grad in a backward pass": lambda f: torch.vmap(lambda x: x * grad(f)(x))(torch.ones(2, requires_grad=True)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_inside_leaves_nothing_behind(name: str, error: type[BaseException]) -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        x.sin()
        raise error("inside")

    before = state()
    with pytest.raises(error, match="inside"):
        TRANSFORMS[name](fails)
    assert state() == before
    with torch.no_grad():
        quiet = state()
        with pytest.raises(error, match="inside"):
            TRANSFORMS[name](fails)
        assert state() == quiet


def test_an_error_in_a_hook_leaves_nothing_behind() -> None:
    def hooked(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y.register_hook(lambda g: 1 / 0)
        return y.sum()

    before = state()
    with pytest.raises(ZeroDivisionError):
        vmap(grad(hooked))(torch.ones(2, 3))
    assert state() == before


def test_a_generator_ends_its_level_when_it_is_closed() -> None:
    def suspended() -> Iterator[Any]:
        with forward_ad.dual_level():
            yield forward_ad.unpack_dual(forward_ad.make_dual(ONE, ONE) * 3).tangent

    before, generator = state(), suspended()
    assert next(generator) == 3
    generator.close()
    assert state() == before


def test_threads_have_their_own_levels() -> None:
    found: dict[int, Any] = {}
    meeting = threading.Barrier(4)

    def work(i: int) -> None:
        def scaled(x: torch.Tensor) -> torch.Tensor:
            meeting.wait(10)
            return (x * i).sin()

        if i % 2:
            found[i] = vmap(grad(scaled))(torch.ones(2))
        else:
            found[i] = jvp(scaled, (torch.ones(2),), (torch.ones(2),))[1]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(1, 5):
        assert found[i].tolist() == pytest.approx([i * torch.tensor(float(i)).cos().item()] * 2)


EMPTY: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "vector times matrix": (lambda x: x[0] @ torch.ones(3, 2), (0, 2)),
    "matrix times matrix": (lambda x: x @ x, (0, 3, 3)),
    "linear": (lambda x: torch.nn.functional.linear(x, torch.ones(2, 3)), (0, 3, 2)),
    "einsum": (lambda x: torch.einsum("ij,jk->ik", x, x), (0, 3, 3)),
    "convolution": (lambda x: torch.nn.functional.conv2d(x[None, None], torch.ones(2, 1, 2, 2))[0], (0, 2, 2, 2)),
    "inverse": (torch.linalg.inv, (0, 3, 3)),
    "determinant": (torch.linalg.det, (0,)),
    "cross entropy": (lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1, 2])), (0,)),
    "largest": (lambda x: x.topk(2)[0], (0, 3, 2)),
    "write": (lambda x: x.clone().index_add_(0, torch.tensor([1]), torch.ones(1, 3)), (0, 3, 3)),
    "random": (torch.rand_like, (0, 3, 3)),
    "gradient": (grad(lambda x: (x @ x).sum()), (0, 3, 3)),
    "Jacobian": (jacrev(lambda x: x @ x), (0, 3, 3, 3, 3)),
    "Jacobian by columns": (jacfwd(lambda x: x @ x), (0, 3, 3, 3, 3)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_batch_without_samples(name: str) -> None:
    function, shape = EMPTY[name]
    found = vmap(function, randomness="different")(torch.empty(0, 3, 3))
    assert tuple(found.shape) == shape
    assert found.dtype is torch.float32


def test_the_same_random_numbers_for_all_samples() -> None:
    batch = torch.zeros(3, 4)
    for draw in (torch.rand_like, torch.randn_like, lambda x: x.clone().uniform_(), lambda x: x.clone().normal_(),
                 lambda x: x.clone().exponential_(), lambda x: x.clone().bernoulli_(0.5),
                 lambda x: torch.nn.functional.dropout(x + 1), lambda x: torch.nn.functional.gumbel_softmax(x),
                 lambda x: torch.rand(4) + x):
        torch.manual_seed(3)
        found = vmap(draw, randomness="same")(batch)
        assert found[0].tolist() == found[1].tolist() == found[2].tolist()
        torch.manual_seed(3)
        assert vmap(draw, randomness="same")(batch).tolist() == found.tolist()
    torch.manual_seed(0)
    one = vmap(torch.rand_like, randomness="same")(batch)[0]
    torch.manual_seed(0)
    assert one.tolist() == torch.rand(4).tolist()
    for draw in (torch.bernoulli, lambda x: torch.normal(x, 1.0), lambda x: torch.multinomial(x + 1, 1),
                 lambda x: x.clone().bernoulli_(x)):
        with pytest.raises(RuntimeError, match="^Vmap does not currently support same randomness with a batched"):
            vmap(draw, randomness="same")(batch)
    assert vmap(torch.multinomial, in_dims=(0, None), randomness="different")(batch + 1, 2).shape == (3, 2)


def test_inference_mode_outside_changes_no_derivative() -> None:
    with torch.inference_mode():
        assert grad(lambda x: (x ** 2).sum())(torch.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
        assert jacrev(torch.square)(torch.tensor([3.0])).tolist() == [[6.0]]
        assert hessian(lambda x: (x ** 3).sum())(torch.tensor([2.0])).tolist() == [[12.0]]
        _, pull = vjp(torch.square, torch.tensor([3.0]))
        assert pull(torch.ones(1))[0].tolist() == [6.0]
        assert vmap(grad(torch.square))(torch.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
        assert torch.is_inference_mode_enabled()


def test_a_copy_of_the_numbers_would_lose_the_derivative() -> None:
    model = torch.nn.Linear(1, 1)

    def of_pickle(x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = pickle.loads(pickle.dumps(x))
        return found

    for copied in (copy.deepcopy, of_pickle):
        for name, kind in (("vmap", "BatchedTensorImpl"), ("grad", "TensorWrapper"), ("jvp", "TensorWrapper")):
            with pytest.raises(NotImplementedError, match=f"^Cannot access storage of {kind}"):
                TRANSFORMS[name](copied)
    assert grad(lambda x: (copy.deepcopy(model).weight * x).sum())(ONE) == model.weight.item()
    assert copy.deepcopy(ONE.clone().requires_grad_()).requires_grad


def test_the_text_of_a_sample_shows_the_whole_batch() -> None:
    texts: list[str] = []

    def shown(x: torch.Tensor) -> torch.Tensor:
        texts.append(repr(x))
        return x

    vmap(shown)(torch.arange(2.0))
    vmap(vmap(shown))(torch.ones(1, 2))
    assert texts == ["BatchedTensor(lvl=1, bdim=0, value=\n    tensor([0., 1.])\n)",
                     "BatchedTensor(lvl=2, bdim=0, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n"
                     "        tensor([[1., 1.]])\n    )\n)"]


def test_a_sample_that_escaped() -> None:
    kept: list[torch.Tensor] = []
    vmap(lambda x: (kept.append(x), x)[1])(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="^Either your tensor may have escaped from inside a function being vmapped"):
        kept[0] + 1
    assert repr(kept[0]).startswith("BatchedTensor(")


@pytest.mark.parametrize(("look", "message"), [
    (lambda x: x.item(), "^vmap: It looks like you're calling .item"),
    (float, "^vmap: It looks like you're calling .item"),
    (lambda x: x.tolist(), "vmap"),
    (lambda x: x.numpy(), "^Cannot access data pointer of Tensor that doesn't have storage"),
    (lambda x: x.data_ptr(), "^Cannot access data pointer of Tensor that doesn't have storage"),
    (lambda x: x if torch.allclose(x, x + 1) else -x, "^vmap over torch.allclose isn't supported yet"),
    (lambda x: x.new_ones(4)[x.new_ones(4).cumsum(0) > x * 2], "^vmap: We do not support batching operators that can"),
])
def test_numbers_of_a_batch_are_not_looked_at(look: Callable[..., Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        vmap(look)(torch.arange(2.0))


def test_outputs_and_cotangents_that_have_no_derivative() -> None:
    x = torch.ones(2)
    for transform in (lambda f: vjp(f, x), lambda f: jvp(f, (x,), (x,)), lambda f: jacrev(f)(x),
                      lambda f: jacfwd(f)(x)):
        for empty in (None, ()):
            with pytest.raises(RuntimeError, match="Expected f to be a function that has non-empty output"):
                transform(lambda x, empty=empty: empty)
        with pytest.raises(RuntimeError, match="got unsupported type <class 'float'>"):
            transform(lambda x: (x, 3.0))
    for transform in (lambda f: vjp(f, x), lambda f: jacrev(f)(x)):
        with pytest.raises(RuntimeError, match=r"^vjp\(f, ...\): All outputs of f must be floating-point or complex"):
            transform(torch.argmax)
    assert jacfwd(torch.argmax)(x).tolist() == [0, 0]
    assert vjp(torch.sum, x)[1](None)[0].tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="^gradients can be either Tensors or None, but got float"):
        vjp(torch.sum, x)[1](1.0)


@pytest.mark.filterwarnings("ignore:Anomaly", "ignore:Error detected")
def test_anomaly_detection_of_batches() -> None:
    with torch.autograd.detect_anomaly():
        assert vmap(grad(torch.sin))(torch.zeros(2)).tolist() == [1.0, 1.0]
        assert vmap(grad(lambda x: (x * x).sum()))(torch.ones(2, 3)).tolist() == [[2.0] * 3] * 2
        with pytest.raises(RuntimeError, match="returned nan values in its 0th output"):
            vmap(grad(lambda x: (x * 0 / x).sqrt()))(torch.tensor([0.0, 1.0]))


class Pair(NamedTuple):
    first: Any
    second: Any


def test_trees_of_all_kinds() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    pair = vmap(lambda p: Pair(p.first + p.second, p.first))(Pair(x, x))
    assert type(pair) is Pair
    assert pair.first.tolist() == (2 * x).tolist()
    found = vmap(lambda d: {"s": d["a"] + d["b"][0]}, in_dims=({"a": 1, "b": [None]},), out_dims={"s": 1})(
        {"a": x, "b": [torch.ones(2)]})
    assert found["s"].tolist() == (x + 1).tolist()
    y = torch.arange(24.0).reshape(2, 3, 4)
    three = vmap(vmap(vmap(lambda r: r * 2, in_dims=-1, out_dims=-1), in_dims=1, out_dims=1), in_dims=0, out_dims=2)
    assert three(y[None]).tolist() == (y[None] * 2).movedim(0, 2).tolist()


def test_chains_of_ten_thousand_operators() -> None:
    def chain(count: int) -> Callable[[torch.Tensor], torch.Tensor]:
        def function(x: torch.Tensor) -> torch.Tensor:
            for _ in range(count):
                x = x * 1.0001
            return x

        return function

    one = torch.tensor(1.0, dtype=torch.float64)
    assert jvp(chain(10000), (one,), (one,))[1].item() == pytest.approx(1.0001 ** 10000)
    assert grad(lambda x: jvp(chain(2500), (x * x,), (x,))[1])(one).item() == pytest.approx(1.0001 ** 2500)


@pytest.mark.parametrize("name", ["graph", "jvp", "vmap", "grad", "hessian"])
def test_two_hundred_calls_keep_no_memory(name: str) -> None:
    x = torch.ones(3, requires_grad=True)
    calls: dict[str, Callable[[], Any]] = {
        "graph": lambda: torch.autograd.grad((x * x).sum(), x, create_graph=True),
        "jvp": lambda: jvp(lambda y: (y * x).sin(), (torch.ones(3),), (torch.ones(3),)),
        "vmap": lambda: vmap(lambda y: (y * x).sin())(torch.ones(3, 3)),
        "grad": lambda: grad(lambda y: (y * x).sin().sum())(torch.ones(3)),
        "hessian": lambda: hessian(lambda y: (y * x).sin().sum())(torch.ones(3)),
    }
    for _ in range(5):
        calls[name]()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(200):
        calls[name]()
    gc.collect()
    assert len(gc.get_objects()) - before < 100


def test_a_saved_value_from_outside_is_lifted_once() -> None:
    w = torch.tensor(2.0, requires_grad=True)
    x = torch.tensor([1.0, 3.0])
    found = vmap(grad(lambda x: w * x * x))(x).sum()               # the sum of 2 w x
    assert torch.autograd.grad(found, w)[0].item() == 8
    assert grad(lambda w: vmap(grad(lambda x: (w * x) ** 3))(x).sum())(w.detach()).item() == 9 * 4 * 10


W = torch.tensor([0.5, 1.5], requires_grad=True)
ONES = torch.ones(2, 2)


def _tangent(y: Any) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual((forward_ad.make_dual(y, ONES) * W).sin()).tangent


# Transforms, and the same function without a transform.
STAGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "vmap": (vmap(lambda y: (y * W).sin()), lambda y: (y * W).sin()),
    "columns": (vmap(lambda y: (y * W[0]).sin(), in_dims=1, out_dims=1), lambda y: (y * W[0]).sin()),
    "nested": (vmap(vmap(lambda y: (y * W[0]).sin())), lambda y: (y * W[0]).sin()),
    "jvp": (lambda y: jvp(lambda z: (z * W).sin(), (y,), (ONES,))[1], lambda y: (y * W).cos() * W),
    "dual": (_tangent, lambda y: (y * W).cos() * W),
}


@pytest.mark.parametrize("first", STAGES)
@pytest.mark.parametrize("second", STAGES)
def test_a_pass_leaves_the_levels_that_lie_behind(first: str, second: str) -> None:
    """So a pass through many transforms, one after the other, takes time in proportion to their number."""
    start, levels = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True), list[int]()
    found = wanted = start
    for kind in (first, second, second, first):
        found, wanted = STAGES[kind][0](found), STAGES[kind][1](wanted)
        found.register_hook(lambda g: levels.append(len(local.thread.levels)))
    slopes = [torch.autograd.grad(each.sum(), (start, W), create_graph=True) for each in (found, wanted)]
    assert max(levels) <= 2
    again = [torch.autograd.grad((g.exp().sum() + h.sin().sum()), (start, W)) for g, h in slopes]
    for one, other in zip([*slopes[0], *again[0]], [*slopes[1], *again[1]], strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-5)
    assert local.thread.levels == ()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tangents_of_tangents_one_after_the_other_have_all_derivatives(count: int) -> None:
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    v = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    found, wanted = x, x
    for _ in range(count):
        found, wanted = jvp(lambda y: y ** 4, (found,), (torch.ones_like(found),))[1], 4 * wanted ** 3
    for _ in range(3):
        (found, by_v), (wanted, plain_by_v) = (
            (g, torch.autograd.grad(g, v, retain_graph=True, allow_unused=True)[0])
            for g in (torch.autograd.grad(each, x, v, create_graph=True)[0] for each in (found, wanted)))
        assert torch.allclose(found, wanted)
        assert torch.allclose(by_v, plain_by_v)
