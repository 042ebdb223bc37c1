"""Reading and writing by index against PyTorch: values, graphs, both derivatives, errors, and what a write leaves."""

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import compare

DRAWS = np.random.default_rng(4)
CUBE = DRAWS.standard_normal((2, 3, 4)).astype(np.float32)
MATRIX = DRAWS.standard_normal((3, 4)).astype(np.float32)
INPUTS = {"cube": CUBE, "turned": np.asfortranarray(MATRIX), "vector": MATRIX[0].copy(),
          "scalar": np.array(1.5, np.float32),
          "empty": np.zeros((0, 3), np.float32)}
OTHER_TYPES = {"bool": MATRIX > 0, "int64": (MATRIX * 9).astype(np.int64),
               "uint8": np.arange(12, dtype=np.uint8).reshape(3, 4),
               "float16": MATRIX.astype(np.float16), "complex64": (MATRIX + 1j * MATRIX[::-1]).astype(np.complex64)}

# Between the brackets of x[…]. L, M, B, P are an index, a matrix of indices, and masks of one and two dimensions.
KEYS = """
0 | -1 | 5 | 1:3 | :2 | ::2 | -2: | 5:9 | 2:1 | : | ... | () | None | True | False | 0, 1 | 0, -1, 2 | :, 0 | 0, :
1:, ::2 | :, 1
..., 0 | 0, ... | ..., None | None, 0, None | :, None | 0:1, None, 1: | ..., : | :, : | ..., ... | 0, 0, 0, 0 | ::-1
::0
:, True | True, False | True, 0 | None, True | 0, False | np.int64(1) | np.array(1) | torch.tensor(1) | torch.tensor(-1)
torch.tensor(5) | torch.tensor(True) | torch.tensor(False) | 0, torch.tensor(1)
slice(torch.tensor(0), torch.tensor(1))
[0, 1] | [1, 1, 0, -1] | [] | [[0, 1]] | [[0, 1], [1, 0]] | [5] | [-9] | L | M | B | P | np.array([1, 0])
np.array([[0], [1]])
np.array([1, 0], dtype=np.int16) | range(2) | [True, False] | [True, False, True] | [False, False] | (0, 1),
L.int() | L.bool()
L, L | L, 0 | 0, L | :, L | L, :, L | L, None, L | ..., L | L, ... | M, L | M, M | L, M, 0 | :, M
0, L, 1 | :, L, L | None, L | L, None | L[:1], [0, 1, 1] | L, [0, 1, 2] | B, 0 | P, 0 | 0, B | :, B | B, L | P, L
..., P | P, P | B, None, 1
[0, 1], [1, 0] | [slice(0, 1), 0] | [None, 0] | [L, L] | 1:, L | 1:, [0, 2] | ::2, B | -1, [0, 1], 1: | L, L, L, L
x > 0 | x[0] > 0 | x > 9 | (x > 0).nonzero()[:, 0] | torch.zeros(0, dtype=torch.long) | torch.tensor([[True]])
""".strip().replace("\n", " | ").split(" | ")

# Items that are none. (In a 0-d tensor PyTorch finds too many of them first.)
NO_KEYS = ["L.to(torch.int16)", "L.float()", "1.5", "np.bool_(True)", "torch.zeros(0)", "1j", "'a'", "0, 1.5"]

VALUES = ["2.5", "7", "True", "v", "v[0]", "v.double()", "v.long()", "v.reshape(-1)[:2]", "torch.ones(1, 1, 1)", "1j",
          "'a'", "[1.]", "None",
          "torch.ones(9)", "float('nan')", "x", "x[0]"]

CALLS = """
x.gather(0, M)  x.gather(1, M)  x.gather(-1, M % 2)  x.gather(0, L)  x.gather(0, M * 9)  x.gather(0, M - 5)
x.gather(5, M)
x.gather(0, M.int())  x.gather(0, M.to(torch.int16))  x.gather(0, torch.zeros(0, 2, dtype=torch.long))
torch.gather(x, 0, M[:, :1])
torch.gather(x, dim=1, index=torch.zeros(3, 9, dtype=torch.long))  x.gather(0, torch.zeros(1, 9, dtype=torch.long))
x.scatter(0, M, v)  x.scatter(1, M, v)  x.scatter(0, M, 2.5)  x.scatter(1, M, value=7)  x.scatter(0, M * 9, v)
x.scatter(0, L, v)
x.scatter(0, M, v.double())  x.scatter(0, M, v[:1])  torch.scatter(x, 0, M[:1, :1], v[:1, :1])  x.scatter(0, M, src=v)
x.scatter_add(0, M, v)  x.scatter_add(1, M * 0, v)  x.scatter_add(0, M * 9, v)  torch.scatter_add(x, 1, M, v)
x.take(L)  x.take(M)  x.take(M * 5)  x.take(torch.tensor(-1))  x.take(L.int())  x.take(L * 50)  torch.take(x, L)
torch.take_along_dim(x, M, 0)  torch.take_along_dim(x, M[:1], 1)  x.take_along_dim(L, 0)
torch.take_along_dim(x, M.int(), 0)  torch.take_along_dim(x, torch.tensor([[0], [1], [1]]), dim=1)
x.index_select(0, L)  x.index_select(1, L)  x.index_select(-1, torch.tensor([1, 1, 1]))  x.index_select(0, L * 9)
x.index_select(0, M)
x.index_select(0, -L)  x.index_select(0, torch.tensor(1))  torch.index_select(x, dim=0, index=L.int())
x.index_select(0, L.float())
x.index_add(0, L, v)  x.index_add(1, L * 0, v[:, :2].reshape(-1, 2)[:1].expand(3, 2))  x.index_add(0, L, v, alpha=3)
x.index_add(0, L * 9, v)
x.index_add(0, L, v.double())  x.index_add(0, L[:1], v)  torch.index_add(x, 0, torch.tensor([2, 2]), v)
x.index_copy(0, L, v)  x.index_copy(0, L * 9, v)  x.index_copy(0, L[:1], v)
torch.index_copy(x, 0, torch.tensor([2, 0]), v)
x.index_fill(0, L, 2.5)  x.index_fill(1, L, 3)  x.index_fill(0, -L, 1.)  x.index_fill(0, L, v[0, 0])
x.index_fill(0, L * 9, 1.)
x.index_fill(0, L, v)  x.index_fill(0, torch.tensor([1, 1, 0]), v[0, 0])  x.index_fill(0, M, 1.)
torch.index_fill(x, 0, torch.tensor(1), 2.)
x.index_put((L,), v)  x.index_put((L, L), v[0, :2])  x.index_put((M,), v[0])  x.index_put((L,), v[0], accumulate=True)
x.index_put((torch.tensor([1, 1]), ), v, True)  x.index_put((x > 0,), v[0, 0])  x.index_put((L,), v.double())
x.index_put((L * 9,), v)
x.index_put([L], v[0])  torch.index_put(x, (L,), v, accumulate=True)  x.index_put((L,), torch.ones(9))
x.index_put((None, L), v)
x.index_put((L * 0, L * 0), v[0, :2], True)  x.index_put((x > 0,), v[0, 0], True)
x.masked_fill(x > 0, 2.5)  x.masked_fill(x > 0, 7)  x.masked_fill(x > 0, v[0, 0])  x.masked_fill(v[0, :1] > 0, 1.)
x.masked_fill(x, 1.)
x.masked_fill(x > 0, v)  x[0].masked_fill(x > 0, 2.)  torch.masked_fill(x, x > 9, 2.)
x.masked_fill(torch.tensor(True), 0.)
x.masked_select(x > 0)  x.masked_select(x > 9)  x.masked_select(x[0] > 0)  x[0].masked_select(x > 0)  x.masked_select(x)
torch.masked_select(x, torch.tensor([True, False]))  torch.masked_select(x, torch.tensor(True))
x[0].gather(0, L)  x[0].scatter(0, L, v[0, :2])  x[0].index_add(0, L, v[0, :2])  x[0].index_select(0, L)
x[0, 0].gather(0, torch.tensor(0))
x[0, 0].index_select(0, torch.tensor([0]))  x[0, 0].scatter(0, torch.tensor(0), v[0, 0])
x[0, 0].take(torch.tensor([0, 0]))
""".strip().replace("\n", "  ").split("  ")

# Statements; y is x * 1, of shape (3, 4). What they leave is compared, or the error that they end in.
PROGRAMS = """
y[0] = 1.; y[1] = x[0]; (y * y).sum().backward()
y[...] = 1.; (y * y).sum().backward()
y[:] = x * 2; (y * y).sum().backward()
y[:, 1] = v[:, 0]; (y * y).sum().backward()
y[0, 0] = v[0, 0]; y[1:, ::2] = v[0, :1]; (y * y).sum().backward()
y[1:, ::2] = v[:, :1]; (y * y).sum().backward()
y[:, None] = v[:1, None, :] * x[:, None]; (y * y).sum().backward()
y[L] = v[:2]; (y * y).sum().backward()
y[L] = v[0]; (y * y).sum().backward()
y[[0, 0]] = v[:2]; y.sum().backward()
y[L] = 3.; (y * y).sum().backward()
y[L, L] = v[0, :2]; (y * y).sum().backward()
y[1, L] = v[0, :2]; (y * y).sum().backward()
y[:, L] = v[:, :1]; (y * y).sum().backward()
y[y > 0] = v[0, 0]; (y * y).sum().backward()
y[y > 0] = 0; (y * y).sum().backward()
y[y > 0] *= 2; (y * y).sum().backward()
y[0] += v[0]; y[:, 1] *= 3; y[L] -= 1; (y * y).sum().backward()
y[True] = 1.; y.sum().backward()
y[False] = 1.; y.sum().backward()
y[None] = v; (y * y).sum().backward()
z = torch.zeros(3, 4); z[0] = x[0]; z[1, L] = x[1, :2]; z[z > 0] = v[0, 0]; (z * z).sum().backward()
z = torch.zeros(3, 4); z[:, 1:3] = x[:, :2]; u = z[0]; z[0, 1] = v[0, 0]; (u * u).sum().backward()
z = torch.zeros(3, 4, dtype=torch.float64); z[0] = x[0]; (z * z).sum().backward()
z = torch.zeros(3, 4, dtype=torch.long); z[0] = 1.7; z[1] = x[0]; z[L, 2] = 3; z[2, 2] = True
z = torch.zeros(3, 4, dtype=torch.bool); z[0] = 3; z[1] = x[0]; z[z] = False; z[2, 1] = 0.5
z = torch.zeros(3, 4, dtype=torch.uint8); z[0] = 255; z[1] = -1; z[2] = x[2] * 0 + 9
z = torch.zeros(3, 4, dtype=torch.complex64); z[0] = 1j; z[1] = x[0]; z[L, L] = 2; (z * z.conj()).real.sum().backward()
z = torch.zeros(3); z[[0, 0]] = torch.tensor([1., 2.]); z[-1] = 5
z = torch.zeros(3); z[torch.tensor([0, 0, 2])] += 1
y.index_fill_(0, L, 2.); (y * y).sum().backward()
y.index_fill_(0, L, v[0, 0]); (y * y).sum().backward()
y.index_add_(0, L * 0, v[:2]); (y * y).sum().backward()
y.index_add_(1, L, v[:, :2], alpha=2); (y * y).sum().backward()
y.index_copy_(1, L, v[:, 2:]); (y * y).sum().backward()
y.index_put_((L,), v[0]); (y * y).sum().backward()
y.index_put_((L * 0,), v[:2], accumulate=True); (y * y).sum().backward()
y.scatter_(1, M, v[:, :2]); (y * y).sum().backward()
y.scatter_(1, M, 2.); (y * y).sum().backward()
y.scatter_add_(0, M, v[:, :2]); (y * y).sum().backward()
y.masked_fill_(y > 0, 0.); (y * y).sum().backward()
y.masked_fill_(x[0] > 0, v[0, 0]); (y * y).sum().backward()
y[0].masked_fill_(y[0] > 0, 0.); (y * y).sum().backward()
y[1:].index_fill_(0, L, 7.); (y * y).sum().backward()
y.t()[L] = 5.; (y * y).sum().backward()
y.t().index_add_(0, L, v.t()[:2]); (y * y).sum().backward()
y.view(-1)[L] = v[0, :2]; (y * y).sum().backward()
y[0].masked_fill_(x > 0, 0.)
y[[0, 1], 9] = 1.
y[9] = 1.
y[0] = torch.ones(9)
y[0] = torch.ones(2, 4)
y[L] = torch.ones(9)
y[L] = v[0].double()
y[::-1] = 1.
y['a'] = 1.
y[0] = 'a'
y[0] = [1., 2., 3., 4.]
y[0] = 1j
y[L] = 1j
x[0] = 1.
x[L] = 1.
x[...] = 1.
x[x > 0] = 1.
x.index_fill_(0, L, 1.)
x.masked_fill_(x > 0, 1.)
with torch.no_grad(): x[0] = 1.; x[L] = 2.; x[x > 1] = 3.; x.masked_fill_(x < 0, 4.); x[1] += 1
w = y * y; y[0] = 1.; w.sum().backward()
w = y + y; y[0] = 1.; w.sum().backward()
w = y * y; y[L] = 1.; w.sum().backward()
w = y.gather(0, M); M[0] = 0; w.sum().backward()
y[M[0] > 9] = 1.; (y * y).sum().backward()
y[0].copy_(v[0]); (y * y).sum().backward()
""".strip().splitlines()


def names_for(library, key=None):
    return {"torch": library, "np": np, "L": library.tensor([0, 1]), "M": library.tensor([[0, 1], [2, 0], [1, 1]]),
            "B": library.tensor([True, False]), "P": library.tensor([[True, False, True], [False, True, True]])}


def read(text):
    code = compile(text, text, "eval")
    return lambda torch, x, *rest: eval(code, {**names_for(torch), "x": x, "v": rest[0] if rest else None})


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", INPUTS)
def test_read(key, name):
    compare(read(f"x[{key}]"), INPUTS[name])


@pytest.mark.parametrize("key", NO_KEYS)
def test_read_by_no_key(key):
    compare(read(f"x[{key}]"), CUBE)


@pytest.mark.parametrize("key", [*NO_KEYS, "None, 'a'", "object()", "{}", "'a', 0", "['a']"])
@pytest.mark.parametrize("array", [np.array(2.0, np.float32), MATRIX[0]], ids=["number", "vector"])
@pytest.mark.filterwarnings("ignore:Using a non-tuple")
def test_keys_are_counted_before_they_are_looked_at(key, array):
    compare(read(f"x[{key}]"), array)


@pytest.mark.parametrize("text", ["pow(x, 2, 3)", "pow(x, x, x)", "x.__pow__(2, 3)", "pow(x, 2, None)", "pow(2, x, 3)"])
def test_powers_have_no_modulus(text):
    compare(lambda t, x: eval(text, {"x": x}) is NotImplemented or eval(text, {"x": x}), MATRIX)


@pytest.mark.parametrize("name", OTHER_TYPES)
def test_read_other_types(name):
    for key in KEYS:
        compare(read(f"x[{key}]"), OTHER_TYPES[name], order=1)


@pytest.mark.parametrize("text", CALLS)
def test_calls(text):
    compare(read(text), MATRIX, MATRIX[1:] * 2)


@pytest.mark.parametrize("text", CALLS)
def test_calls_of_doubles_in_another_order(text):
    compare(read(text), np.asfortranarray(MATRIX.astype(np.float64)), np.asfortranarray(MATRIX[1:].astype(np.float64)))


@pytest.mark.parametrize("name", ["int64", "float16", "complex64"])
def test_calls_of_other_types(name):
    for text in CALLS:
        compare(read(text), OTHER_TYPES[name], OTHER_TYPES[name][1:], order=1)


def write(key, value):
    code = compile(f"y[{key}] = {value}", f"y[{key}] = {value}", "exec")

    def case(torch, x, v):
        y = x * 1
        exec(code, {**names_for(torch), "y": y, "v": v, "x": x})
        return y

    return case


@pytest.mark.parametrize("value", VALUES)
def test_write(value):
    for key in KEYS:
        compare(write(key, value), MATRIX, MATRIX[1:] * 2, order=1)


def outcome(library, program):
    """What a program leaves: for each tensor its values, version, flags and graph; and the gradients; or the error."""
    x, v = (library.from_numpy(a.copy()).requires_grad_() for a in (MATRIX, MATRIX[::-1]))
    names = {**names_for(library), "x": x, "v": v, "y": x * 1}
    try:
        exec(program, names)
        left = {}
        for name in "xyzuw":
            tensor = names.get(name)
            if tensor is not None:
                node = tensor.grad_fn
                after = [] if node is None else [f[0] and f[0].name().rpartition("::")[2] for f in node.next_functions]
                left[name] = (np.round(tensor.detach().numpy(), 4).tolist(), str(tensor.dtype), tensor._version,
                              tensor.requires_grad, node and node.name().rpartition("::")[2], after)
        for name, leaf in ("x", x), ("v", v):
            left["grad " + name] = leaf.grad is not None and np.round(leaf.grad.numpy(), 3).tolist()
        return left
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return type(error).__name__ + " " + str(error).split(".")[0].split(": ")[0]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_programs(program):
    assert outcome(retrograd, program) == outcome(torch, program)
