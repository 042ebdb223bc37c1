"""Shapes, joining, splitting: values are NumPy's, every derivative is the adjoint, views share memory and history."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch

X = np.arange(24.0).reshape(2, 3, 4)


def leaf(array):
    return torch.from_numpy(np.array(array, dtype=float)).requires_grad_()


# Each is linear: the tensor's way of saying it, and NumPy's.
LINEAR = {
    "view": (lambda x: x.view(6, -1), lambda a: a.reshape(6, -1)),
    "reshape copies": (lambda x: x.transpose(0, 2).reshape(-1), lambda a: a.swapaxes(0, 2).reshape(-1)),
    "flatten": (lambda x: x.flatten(1), lambda a: a.reshape(2, 12)),
    "unflatten": (lambda x: x.unflatten(-1, (2, -1)), lambda a: a.reshape(2, 3, 2, 2)),
    "ravel": (lambda x: x.mT.ravel(), lambda a: a.swapaxes(1, 2).ravel()),
    "permute": (lambda x: x.permute(2, 0, 1), lambda a: a.transpose(2, 0, 1)),
    "transpose": (lambda x: x.transpose(0, -1), lambda a: a.swapaxes(0, -1)),
    "mT": (lambda x: x.mT, lambda a: a.swapaxes(1, 2)),
    "movedim": (lambda x: x.movedim((0, 1), (-1, 0)), lambda a: np.moveaxis(a, (0, 1), (-1, 0))),
    "unsqueeze": (lambda x: x.unsqueeze(-1), lambda a: a[..., None]),
    "squeeze": (lambda x: x[:1].squeeze(0), lambda a: a[0]),
    "expand": (lambda x: x[:, :1].expand(5, 2, 7, 4), lambda a: np.broadcast_to(a[:, :1], (5, 2, 7, 4))),
    "diagonal": (lambda x: x.diagonal(1, 1, 2), lambda a: a.diagonal(1, 1, 2)),
    "diag_embed": (lambda x: torch.diag_embed(x, 1), lambda a: np.stack([[np.diag(r, 1) for r in m] for m in a])),
    "unfold": (lambda x: x.unfold(2, 3, 1), lambda a: np.lib.stride_tricks.sliding_window_view(a, 3, 2)),
    "tril": (lambda x: x.tril(1), lambda a: np.tril(a, 1)),
    "triu": (lambda x: x.triu(-1), lambda a: np.triu(a, -1)),
    "flip": (lambda x: x.flip(0, 2), lambda a: np.flip(a, (0, 2))),
    "roll": (lambda x: x.roll((1, -2), (0, 2)), lambda a: np.roll(a, (1, -2), (0, 2))),
    "rot90": (lambda x: x.rot90(1, (1, 2)), lambda a: np.rot90(a, 1, (1, 2))),
    "repeat": (lambda x: x.repeat(2, 1, 3, 2), lambda a: np.tile(a, (2, 1, 3, 2))),
    "repeat_interleave": (lambda x: x.repeat_interleave(3, 1), lambda a: np.repeat(a, 3, 1)),
    "repeat_interleave by counts": (lambda x: x.repeat_interleave(torch.tensor([1, 0, 2]), 1),
                                    lambda a: np.repeat(a, [1, 0, 2], 1)),
    "narrow": (lambda x: x.narrow(1, 1, 2), lambda a: a[:, 1:3]),
    "select": (lambda x: x.select(1, -1), lambda a: a[:, -1]),
    "cat": (lambda x: torch.cat([x, 2 * x, x[:1]]), lambda a: np.concatenate([a, 2 * a, a[:1]])),
    "stack": (lambda x: torch.stack([x, 3 * x], -1), lambda a: np.stack([a, 3 * a], -1)),
    "split": (lambda x: x.split(2, 2)[1], lambda a: a[..., 2:]),
    "unbind": (lambda x: x.unbind(1)[2], lambda a: a[:, 2]),
    "clone": (lambda x: x.clone(), np.copy),
    "contiguous": (lambda x: x.mT.contiguous(), lambda a: a.swapaxes(1, 2)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_values_and_derivatives(name):
    ours, numpys = LINEAR[name]
    x = leaf(X)
    out = ours(x)
    expected = numpys(X)
    np.testing.assert_array_equal(out.detach().numpy(), expected)
    g = leaf(np.random.default_rng(0).standard_normal(expected.shape))
    (grad,) = torch.autograd.grad(out, x, g, create_graph=True)
    other = np.random.default_rng(1).standard_normal(X.shape)
    # <f(v), g> = <v, f*(g)>, and the derivative of that by g is f(v).
    np.testing.assert_allclose((grad.detach().numpy() * other).sum(), (numpys(other) * g.detach().numpy()).sum())
    (second,) = torch.autograd.grad(grad, g, torch.from_numpy(other))
    np.testing.assert_allclose(second.numpy(), numpys(other))


@given(st.lists(st.integers(0, 3), max_size=4), st.data())
def test_reshape_and_permute_undo_themselves(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    array = np.arange(int(np.prod(shape))).reshape(shape)
    x = torch.from_numpy(array.copy())
    back = x.permute(*order).permute(*np.argsort(order).tolist()) if shape else x
    np.testing.assert_array_equal(back.numpy(), array)
    np.testing.assert_array_equal(x.permute(tuple(order)).reshape(-1).numpy(), array.transpose(order).reshape(-1))
    np.testing.assert_array_equal(x.permute(tuple(order)).reshape(-1).view(array.transpose(order).shape).numpy(),
                                  array.transpose(order))


@given(st.integers(0, 9), st.integers(1, 5))
def test_parts_make_the_whole(n, size):
    x = torch.arange(n)
    for parts in x.split(size), x.chunk(size), x.tensor_split(size):
        assert torch.cat(parts).tolist() == x.tolist()
    assert [len(p) for p in x.tensor_split(size)] == [len(p) for p in np.array_split(np.arange(n), size)]
    assert torch.stack(torch.cat([x, x]).view(2, n).unbind(1), 1).shape == (2, n) if n else True


def test_views_share_memory_and_version():
    x = torch.zeros(3, 4)
    views = [x.view(-1), x.t(), x[0], x[1:, ::2], x.unsqueeze(0), x.expand(3, 4), x.diagonal(), x.unbind()[0],
             x.split(2)[1],
             x.reshape(4, 3), x.flatten(), x.unfold(0, 2, 1), x.permute(1, 0), x.narrow(0, 1, 1)]
    for v in views:
        assert v._base is x
        assert v._is_view()
    x.add_(1)
    assert all(v._version == 1 and bool((v == 1).all()) for v in views)
    copies = [x.clone(), x.repeat(1, 1), x.flip(0), x.roll(1), x.tril(), x.diag(), torch.cat([x]), x.t().reshape(-1),
              x.t().contiguous()]
    assert not any(c._is_view() or c._version for c in copies)


def test_identities():
    x = torch.zeros(3, 4)
    assert x.contiguous() is x
    assert x.flatten(0, 0) is x
    assert torch.atleast_2d(x) is x
    assert x.reshape(3, 4) is not x
    assert x.view(3, 4) is not x


def names(tensor):
    node, found = tensor.grad_fn, []
    while node.next_functions:
        found.append(node.name())
        node = node.next_functions[0][0]
    return found[:-1]


# The graphs that PyTorch 2.13 records, without the multiplication that all start from.
GRAPHS = {
    "y.reshape(12)": ["ViewBackward0"],
    "y.t().reshape(-1)": ["UnsafeViewBackward0", "CloneBackward0", "TBackward0"],
    "y.t().reshape(4, 3)": ["ReshapeAliasBackward0", "TBackward0"],
    "y.t().ravel()": ["ViewBackward0", "CloneBackward0", "TBackward0"],
    "y.T": ["PermuteBackward0"], "y.mT": ["TransposeBackward0"], "y.H": ["TransposeBackward0"], "y.t()": ["TBackward0"],
    "y.squeeze()": ["SqueezeBackward0"], "y.squeeze(0)": ["SqueezeBackward1"],
    "y.squeeze((0, 1))": ["SqueezeBackward2"],
    "y.narrow(0, 0, 1)": ["SliceBackward0"], "y.chunk(2)[0]": ["SplitBackward0"],
    "y.split([1, 2])[0]": ["SplitWithSizesBackward0"], "y.tensor_split(2)[0]": ["SliceBackward0"],
    "y.diag()": ["DiagonalBackward0_copy"], "y.tile(2)": ["RepeatBackward0"],
    "y.repeat_interleave(2, 0)": ["ViewBackward0", "CloneBackward0", "ExpandBackward0", "UnsqueezeBackward0"],
    "torch.vstack([y[0], y[0]])": ["CatBackward0", "UnsqueezeBackward0", "SelectBackward0"],
    "y.contiguous()": [], "y.t().contiguous()": ["CloneBackward0", "TBackward0"],
}


@pytest.mark.parametrize("text", GRAPHS)
def test_graphs(text):
    y = leaf(np.ones((3, 4))) * 1
    assert names(eval(text, {"y": y, "torch": torch})) == GRAPHS[text]


ERRORS = {
    "x.view(5)": (RuntimeError, "shape '[5]' is invalid for input of size 12"),
    "x.view(-1, -1)": (RuntimeError, "only one dimension can be inferred"),
    "x.t().view(-1)": (RuntimeError, "view size is not compatible with input tensor's size and stride"),
    "x.transpose(0, 2)": (IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
    "x.permute(0, 0)": (RuntimeError, "permute(): duplicate dims are not allowed."),
    "x.expand(2, 5)": (RuntimeError,
                       "The expanded size of the tensor (5) must match the existing size (4) at non-singleton"),
    "x[None].t()": (RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is 3D"),
    "torch.cat([x, x[:, 1:]])": (RuntimeError,
                                 "Sizes of tensors must match except in dimension 0. Expected size 4 but got size 3"),
    "torch.stack([x, x[1:]])": (RuntimeError,
                                "stack expects each tensor to be equal size, but got [3, 4] at entry 0 and [2, 4]"),
    "torch.cat([])": (ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    "torch.cat([x, 1])": (TypeError, "expected Tensor as element 1 in argument 0, but got int"),
    "x.split([1, 1])": (RuntimeError, "split_with_sizes expects split_sizes to sum exactly to 3"),
    "x.unfold(0, 5, 1)": (RuntimeError, "maximum size for tensor at dimension 0 is 3 but size is 5"),
    "x.roll(1, (0, 1))": (RuntimeError, "shifts and dimensions must align. shifts: 1, dims:2"),
    "iter(torch.tensor(1.))": (TypeError, "iteration over a 0-d tensor"),
    "torch.reshape(3, (1,))": (TypeError, "reshape(): argument 'input' (position 1) must be Tensor, not int"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_say_what_pytorch_says(text):
    kind, message = ERRORS[text]
    with pytest.raises(kind) as caught:
        eval(text, {"x": torch.zeros(3, 4), "torch": torch})
    assert str(caught.value).startswith(message)


def test_joining_promotes_and_passes_over_empty_vectors():
    x = torch.ones(2, 3)
    assert torch.cat([x, x.double()]).dtype is torch.float64
    assert torch.stack([x.long(), x]).dtype is torch.float32
    assert torch.cat([torch.zeros(0), x]).shape == (2, 3)
    empty, y = torch.zeros(0, requires_grad=True), leaf(np.ones((2, 3)))
    torch.cat([empty, y, y.float()], 1).sum().backward()
    assert empty.grad.shape == (0,)
    assert y.grad.tolist() == [[2.0] * 3] * 2


NUMPYS = [
    lambda a: np.reshape(a, (6, 4)), np.ravel, lambda a: np.swapaxes(a, 0, 1), np.transpose,
    lambda a: np.moveaxis(a, 0, -1),
    lambda a: np.expand_dims(a, (0, 2)), lambda a: np.squeeze(a[:1]), lambda a: np.broadcast_to(a, (2, 2, 3, 4)),
    lambda a: np.flip(a, 1), lambda a: np.roll(a, 1, 0), lambda a: np.repeat(a, 2, 1), lambda a: np.tile(a, 2), np.tril,
    np.diagonal, lambda a: np.concatenate([a, a], 1), lambda a: np.stack([a, a]), lambda a: np.split(a, 2)[1],
]


@pytest.mark.parametrize("call", NUMPYS)
def test_numpys_functions_record(call):
    out = call(leaf(X) * 1)
    assert out.grad_fn is not None
    np.testing.assert_array_equal(out.detach().numpy(), call(X))


def test_written_expansions_and_windows_sum_where_elements_coincide():
    for take in (lambda y: y.expand(2, 3, 4), lambda y: y.unfold(1, 3, 1), lambda y: y[:1].expand(5, 4)):
        x = leaf(np.arange(12.0).reshape(3, 4))
        y = x * 1
        v = take(y)
        y.mul_(x.detach())
        assert v.grad_fn.name() == "AsStridedBackward0"
        (v * v).sum().backward()
        z = leaf(np.arange(12.0).reshape(3, 4))
        (take(z * z.detach()) ** 2).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), z.grad.numpy())


def test_overlapping_memory_is_not_written():
    x = torch.zeros(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        x.expand(2, 3).add_(1)
    x.expand(2, 3)[0].add_(1)
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_sizes_and_strides():
    x = torch.zeros(3, 4, dtype=torch.float64)
    assert (x.numel(), x.nelement(), x.dim(), x.size(), x.size(-1), x.stride()) == (12, 12, 2, (3, 4), 4, (4, 1))
    assert x.t().stride() == (1, 4)
    assert x[1:, 2:].storage_offset() == 6
    assert (x.is_contiguous(), x.t().is_contiguous(), x.element_size()) == (True, False, 8)
    assert [row.shape for row in x] == [(4,)] * 3
    assert torch.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert [g.tolist() for g in torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3]), indexing="xy")] == [[[1, 2]],
                                                                                                            [[3, 3]]]


@pytest.mark.parametrize(("call", "words"), [
    (lambda x: x.tensor_split(1 << 62), "cannot create std::vector larger than max_size\\(\\)"),
    (lambda x: x.tensor_split(torch.tensor(1 << 40)), "std::bad_alloc"),
    (lambda x: x[:0].tensor_split(1 << 62), "cannot create std::vector larger than max_size\\(\\)"),
    (lambda x: x[:0].chunk(1 << 62), "cannot create std::vector larger than max_size\\(\\)"),
    (lambda x: torch.unsafe_chunk(x[:0], 1 << 40), "std::bad_alloc"),
    (lambda x: x[0, 0].expand(1 << 40).split(1), "std::bad_alloc"),
])
def test_numbers_of_parts_that_no_memory_holds_are_refused_at_once(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(torch.ones(4, 2))
