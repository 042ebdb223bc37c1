"""Reading and writing by index: values are NumPy's, every derivative is the adjoint, writes leave the right history."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch

X = np.random.default_rng(2).standard_normal((3, 4, 2))


def leaf(array):
    return torch.from_numpy(np.array(array, dtype=float)).requires_grad_()


@st.composite
def keys(draw):
    """A key for an array of shape (3, 4, 2) that NumPy reads as PyTorch does: no int beside an index array."""
    arrays = draw(st.booleans())
    items = []
    for n in (3, 4, 2):
        kinds = [st.slices(n).filter(lambda s: s.step is None or s.step > 0)]
        kinds.append(st.lists(st.integers(-n, n - 1), min_size=2, max_size=2) if arrays else st.integers(-n, n - 1))
        items.append(draw(st.one_of(kinds)))
        if draw(st.integers(0, 9)) == 0:
            items.append(None)
    return tuple(items[: draw(st.integers(1, len(items)))])


@given(keys())
def test_reading_is_numpys_and_its_derivative_the_adjoint(key):
    x = leaf(X)
    out, expected = x[key], X[key]
    np.testing.assert_array_equal(out.detach().numpy(), expected)
    g = leaf(np.random.default_rng(0).standard_normal(expected.shape))
    (grad,) = torch.autograd.grad(out, x, g, create_graph=True)
    wanted = np.zeros_like(X)
    np.add.at(wanted, key, g.detach().numpy())
    np.testing.assert_allclose(grad.detach().numpy(), wanted, atol=1e-12)
    (second,) = torch.autograd.grad(grad, g, torch.from_numpy(X.copy()))
    np.testing.assert_allclose(second.numpy(), expected)


@given(keys(), st.booleans())
def test_writing_is_numpys_and_its_derivative_goes_to_what_stayed_and_what_came(key, recorded):
    expected = X.copy()
    v = leaf(np.random.default_rng(0).standard_normal(expected[key].shape))
    expected[key] = v.detach().numpy()
    x = leaf(X)
    y = x * 1 if recorded else torch.from_numpy(X.copy())
    y[key] = v if recorded else v.detach()
    np.testing.assert_array_equal(y.detach().numpy(), expected)
    if recorded and v.numel():
        y.backward(torch.from_numpy(X.copy()))
        stayed = X.copy()
        stayed[key] = 0
        np.testing.assert_array_equal(x.grad.numpy(), stayed)
        np.testing.assert_array_equal(v.grad.numpy(), X[key])


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(0, 3), st.sampled_from(["float32", "float64", "complex64",
                                                                                     "int64"]))
def test_repeated_indices_add_up(index, width, dtype):
    rows = np.arange(len(index) * width).reshape(len(index), width).astype(dtype)
    expected = np.zeros((5, width), dtype)
    np.add.at(expected, np.array(index, int), rows)
    places = torch.tensor(index, dtype=torch.int64)
    table = torch.zeros(5, width, dtype=getattr(torch, dtype))
    np.testing.assert_array_equal(table.index_add(0, places, torch.from_numpy(rows)).numpy(), expected)
    np.testing.assert_array_equal(table.index_put((places,), torch.from_numpy(rows), accumulate=True).numpy(), expected)
    np.testing.assert_array_equal(table.t().index_add(1, places, torch.from_numpy(rows).t()).numpy(), expected.T)


L, M = torch.tensor([2, 0, 2]), torch.tensor([[0, 1], [2, 0], [1, 1]])
MASK = torch.tensor([[True, False, True, True], [False] * 4, [True, True, False, False]])
A, B = np.arange(12.0).reshape(3, 4), -np.arange(1.0, 13.0).reshape(3, 4)

# Each in x, of shape (3, 4), and y, of the same: linear in both together.
LINEAR = {
    "gather": lambda x, y: x.gather(1, M) + y.gather(0, M),
    "scatter": lambda x, y: x.scatter(1, torch.tensor([[0, 1], [2, 0], [1, 3]]), y),
    "scatter_add": lambda x, y: x.scatter_add(1, M, y),
    "take": lambda x, y: x.take(M) + y.take(M - 3),
    "take_along_dim": lambda x, y: torch.take_along_dim(x, M[:, :1], 1) + torch.take_along_dim(y, M[:1, :1], 0)[:, :1],
    "index_select": lambda x, y: x.index_select(0, L) + y.index_select(1, L)[:, :1],
    "index_add": lambda x, y: x.index_add(0, L, y, alpha=2),
    "index_copy": lambda x, y: x.index_copy(0, torch.tensor([2, 0, 1]), y),
    "index_put": lambda x, y: x.index_put((torch.tensor([0, 2]),), y[:2]),
    "index_put that adds": lambda x, y: x.index_put((L, L), y[0, :3], accumulate=True),
    "masked_fill": lambda x, y: x.masked_fill(MASK, 0.0) + y,
    "masked_fill by a tensor": lambda x, y: x.masked_fill(MASK, y[1, 1]),
    "masked_select": lambda x, y: x.masked_select(MASK) + y[MASK],
    "index_fill": lambda x, y: x.index_fill(1, L, 0.0) + y,
    "index_fill by a tensor": lambda x, y: x.index_fill(1, L, y[2, 2]),
}


@pytest.mark.parametrize("name", LINEAR)
def test_derivatives_are_adjoint(name):
    call = LINEAR[name]
    x, y = leaf(A), leaf(B)
    out = call(x, y)
    draws = np.random.default_rng(5)
    g = leaf(draws.standard_normal(out.shape))
    grads = torch.autograd.grad(out, (x, y), g, create_graph=True)
    u, v = (torch.from_numpy(draws.standard_normal((3, 4))) for _ in "uv")
    directional = (call(u, v) * g).sum()
    total = sum((a * b).sum().item() for a, b in zip(grads, (u, v)))
    np.testing.assert_allclose(total, directional.item())
    (second,) = torch.autograd.grad(grads, g, (u, v))
    np.testing.assert_allclose(second.numpy(), call(u, v).numpy())


INPLACE = {
    "scatter": lambda x, y, _: getattr(x, "scatter" + _)(0, M, y),
    "scatter value": lambda x, y, _: getattr(x, "scatter" + _)(0, M, 2.0),
    "scatter_add": lambda x, y, _: getattr(x, "scatter_add" + _)(0, M, y),
    "index_add": lambda x, y, _: getattr(x, "index_add" + _)(0, L, y, alpha=3),
    "index_copy": lambda x, y, _: getattr(x, "index_copy" + _)(0, L[:2], y[:2]),
    "index_fill": lambda x, y, _: getattr(x, "index_fill" + _)(0, L, 2.0),
    "index_fill by a tensor": lambda x, y, _: getattr(x, "index_fill" + _)(0, L, y[0, 0]),
    "index_put": lambda x, y, _: getattr(x, "index_put" + _)((L[:2],), y[:2]),
    "masked_fill": lambda x, y, _: getattr(x, "masked_fill" + _)(MASK, 2.0),
    "masked_fill by a tensor": lambda x, y, _: getattr(x, "masked_fill" + _)(MASK, y[0, 0]),
}


@pytest.mark.parametrize("name", INPLACE)
@pytest.mark.parametrize("turned", [False, True])
def test_in_place_does_the_same(name, turned):
    found = []
    for suffix in ("", "_"):
        x, y = leaf(A), leaf(B)
        base = (x * 2).t().contiguous() if turned else x * 2
        view = base.t() if turned else base
        out = INPLACE[name](view, y, suffix)
        assert (out is view) == (suffix == "_")
        assert base._version == len(suffix)
        (out * out).sum().backward()
        found.append([out.detach().numpy(), x.grad.numpy(), None if y.grad is None else y.grad.numpy()])
    for plain, written in zip(*found, strict=True):
        np.testing.assert_array_equal(written, plain)


# The graphs that PyTorch 2.13 records, without the multiplication that all start from.
GRAPHS = {
    "y[0]": ["Select"], "y[0, 1]": ["Select", "Select"], "y[1:]": ["Slice"], "y[:]": ["Slice"], "y[:, :]": ["Alias"],
    "y[...]": ["Alias"], "y[()]": ["Alias"], "y[None]": ["Unsqueeze"], "y[0, :]": ["Select"], "y[True]": ["Index",
                                                                                                          "Unsqueeze"],
    "y[[0, 1]]": ["Index"], "y[0, [0, 1]]": ["Index", "Select"], "y[[0, 1], 0]": ["Index", "Select"],
    "y[:, [0, 1]]": ["Index"], "y[:, None, [0, 1]]": ["Index", "Unsqueeze"], "y[torch.tensor(1)]": ["Select"],
    "y[y > 0]": ["Index"], "y[0:1, None, 1:]": ["Slice", "Unsqueeze", "Slice"],
}


@pytest.mark.parametrize("text", GRAPHS)
def test_graphs(text):
    node = eval(text, {"y": leaf(A) * 1, "torch": torch}).grad_fn
    found = []
    while node.name() != "MulBackward0":
        found.append(node.name().removesuffix("Backward0"))
        node = node.next_functions[0][0]
    assert found == GRAPHS[text]


def test_what_a_write_leaves():
    x = leaf(A)
    y = x * 1
    v = y[0]
    y[0] = 5.0
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert v.grad_fn.name() == "AsStridedBackward0"
    assert (y._version, v._version, v.tolist()) == (1, 1, [5.0] * 4)
    y[...] = x
    assert y.grad_fn.name() == "torch::autograd::CopyBackwards"
    y[L] = 1.0
    assert y.grad_fn.name() == "IndexPutBackward0"
    z = torch.zeros(3)
    z[torch.tensor([0, 0])] = torch.tensor([1.0, 2.0])
    assert z.tolist() == [2.0, 0.0, 0.0]
    assert z.grad_fn is None


def test_a_written_index_is_noticed():
    w = leaf(A)
    index = torch.tensor([[0, 1, 2, 0]])
    out = w.gather(0, index)
    index.zero_()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.LongTensor \[1, 4\]\]"):
        out.sum().backward()
    index = torch.tensor([1, 1])
    out = w[index]
    index.zero_()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.LongTensor \[2\]\]"):
        out.sum().backward()


def test_views_that_refuse_to_be_written():
    x = leaf(A)
    for write in (lambda: x.__setitem__(0, 1.0), lambda: x.t().mul_(2)):
        with pytest.raises(RuntimeError,
                           match=r"^a view of a leaf Variable that requires grad is being used in an in-place"):
            write()
    with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad"):
        x[L] = 1.0
    y = x * 1
    part = y.unbind()[1]
    with pytest.raises(RuntimeError, match="Output 1 of Unbind is a view and is being modified inplace"):
        part.mul_(2)
    y.mul_(2)
    with pytest.raises(RuntimeError,
                       match="Output 1 of Unbind is a view and its base or another view of its base has been"):
        _ = part.grad_fn
    with torch.no_grad():
        x[0] = 1.0
        x[L] += 1
    assert (x._version, x.is_leaf) == (2, True)


ERRORS = {
    "x[5]": (IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    "x[0, -5]": (IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
    "x[0, 0, 0]": (IndexError, "too many indices for tensor of dimension 2"),
    "x[::-1]": (ValueError, "step must be greater than zero"),
    "x[[9]]": (IndexError, "index 9 is out of bounds for dimension 0 with size 3"),
    "x[1.5]": (IndexError,
               "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"),
    "x[torch.tensor([0.5])]": (IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    "x[torch.tensor([True])]": (IndexError,
                                "The shape of the mask [1] at index 0 does not match the shape of the indexed"),
    "x[[0, 1], [0, 1, 2]]": (IndexError,
                             "shape mismatch: indexing tensors could not be broadcast together with shapes"),
    "torch.tensor(1.)[0]": (IndexError, "invalid index of a 0-dim tensor. Use `tensor.item()` in Python"),
    "torch.tensor(1.)[:]": (IndexError, "slice() cannot be applied to a 0-dim tensor."),
    "x.__setitem__(0, torch.ones(3))": (RuntimeError,
                                        "The expanded size of the tensor (4) must match the existing size (3)"),
    "x.__setitem__([0], torch.ones(3))": (RuntimeError,
                                          "shape mismatch: value tensor of shape [3] cannot be broadcast to"),
    "x.__setitem__([0], torch.ones(4).double())": (RuntimeError,
                                                   "Index put requires the source and destination dtypes match"),
    "x.__setitem__(0, 'a')": (TypeError, "can't assign a str to a torch.FloatTensor"),
    "x.__setitem__(0, 1j)": (RuntimeError, "value cannot be converted to type float without overflow"),
    "x.gather(0, torch.tensor([[7]]))": (RuntimeError, "index 7 is out of bounds for dimension 0 with size 3"),
    "x.index_select(0, torch.tensor([7]))": (IndexError, "index out of range in self"),
    "x.index_add(0, torch.tensor([7]), x[:1])": (RuntimeError, "index 7 is out of bounds for dimension 0 with size 3"),
    "x.take(torch.tensor([99]))": (IndexError, "out of range: tried to access index 99 on a tensor of 12 elements."),
    "x.masked_fill(x, 1.)": (RuntimeError, "masked_fill_ only supports boolean masks, but got mask with dtype float"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_say_what_pytorch_says_and_change_nothing(text):
    kind, message = ERRORS[text]
    x = torch.zeros(3, 4)
    with pytest.raises(kind) as caught:
        eval(text, {"x": x, "torch": torch})
    assert str(caught.value).startswith(message)
    assert (x._version, float(x.abs().sum())) == (0, 0.0)


def test_types_that_index():
    x = torch.arange(12).view(3, 4)
    expected = x.numpy()[[2, 0]].tolist()
    for key in ([2, 0], (2, 0), range(2, -1, -2)):
        assert x[(key,)].tolist() == expected
    for key in (np.array([2, 0]), np.array([2, 0], np.int16), torch.tensor([2, 0]),
                torch.tensor([2, 0], dtype=torch.int32)):
        assert x[key].tolist() == expected
    assert x[np.int64(1)].tolist() == x[torch.tensor(1)].tolist() == [4, 5, 6, 7]
    with pytest.warns(UserWarning, match=r"^indexing with dtype torch.uint8 is now deprecated"):
        taken = x[torch.tensor([1, 0, 1], dtype=torch.uint8)]
    assert taken.tolist() == x[[True, False, True]].tolist() == expected[::-1]
    assert x[torch.tensor(1, dtype=torch.uint8)].shape == (1, 3, 4)


def test_dtypes_of_what_is_written():
    z = torch.zeros(3, dtype=torch.int64)
    z[0] = 1.7
    z[1] = torch.tensor(2.9)
    assert z.tolist() == [1, 2, 0]
    b = torch.zeros(2, dtype=torch.bool)
    b[0] = 3
    assert b.tolist() == [True, False]
    x = leaf(np.ones(3))
    y = torch.zeros(3, dtype=torch.float32)
    y[:2] = x[:2]
    y.sum().backward()
    assert (y.dtype, x.grad.dtype, x.grad.tolist()) == (torch.float32, torch.float64, [1.0, 1.0, 0.0])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.float32])
def test_gather_takes_an_empty_index_of_any_dtype(dtype):
    assert torch.gather(torch.ones(2, 3), 0, torch.empty((0, 3), dtype=dtype)).shape == (0, 3)


def test_take_along_dim_starts_anew_at_each_end():
    x = torch.arange(6.).view(2, 3)
    assert torch.take_along_dim(x, torch.tensor([[-1, 0, 5, -7]]), 1).tolist() == [[2., 0., 2., 2.], [5., 3., 5., 5.]]


@pytest.mark.parametrize(("write", "expected"), [
    (lambda x, i, v: x.__setitem__(i, v), [6.0, 2.0, 6.0]), (lambda x, i, v: x.index_put_((i,), v), [6.0, 2.0, 6.0]),
    (lambda x, i, v: x.index_put_((i,), v, accumulate=True), [16.0, 2.0, 18.0]),
    (lambda x, i, v: x.index_fill_(0, i, 5), [5.0, 2.0, 5.0]),
    (lambda x, i, v: x.masked_fill_(v > 3, 5), [5.0, 5.0, 5.0])])
@pytest.mark.parametrize("recorded", [False, True])
def test_writes_by_index_to_an_expanded_tensor(write: Any, expected: list[float], recorded: bool) -> None:
    x = torch.tensor([[1.0], [2.0], [3.0]]).expand(3, 3)
    values = torch.tensor([4.0, 5.0, 6.0], requires_grad=recorded)
    write(x, torch.tensor([2, 0]), values)
    assert x[:, 0].tolist() == expected


def of_tensors_and_ints() -> list[Any]:
    """Keys whose sequences hold tensors, ints, or both."""
    zero, one = torch.tensor(0), torch.tensor(1)
    return [([zero, 1],), ([zero, one],), ([[zero, 1], [1, 1]],), (0, [one, 2]), [zero, one]]


@pytest.mark.filterwarnings("ignore::UserWarning")          # a list as a tuple, and a function that is not compiled
@pytest.mark.parametrize("number", range(5))
def test_sequences_of_tensors_index_in_transforms_as_they_do_outside(number: int) -> None:
    x = torch.arange(60.).reshape(3, 4, 5)

    def read(x: Any) -> Any:
        return x[of_tensors_and_ints()[number]] * 2

    expected = read(x)
    assert torch.equal(torch.func.vmap(read)(torch.stack([x, x]))[1], expected)
    assert torch.equal(torch.func.jvp(read, (x,), (x,))[1], expected)
    assert torch.equal(torch.compile(read)(x), expected)
    assert read(x.to("meta")).shape == expected.shape
