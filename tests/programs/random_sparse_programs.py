"""Random programs with sparse tensors, as text: a leaf, some operations, a number, and a backward pass.

The programs compute with small whole numbers, so no result depends on the order of sums. Where PyTorch raises an error
the comparison ends, because some of what PyTorch refuses has a result here.
"""

from __future__ import annotations

import random
import warnings
from types import ModuleType
from typing import Any

SHAPES = ((3, 3), (3, 3), (3, 3), (2, 3), (3, 2), (4,), (2, 2, 2), (0, 3), (1, 3))
# Operations that most sparse tensors have.
STEPS = """
y * 2
2 * y
y + y
y * y
y - s
y + s
y * s
s * y
-y
y / 2
y ** 2
y.abs()
y.neg().relu()
y.sign()
y.floor()
y.clone()
y.coalesce()
y.detach()
y.conj()
y.t()
y.transpose(0, 1)
y.transpose(-1, -1)
y.permute(1, 0)
y.unsqueeze(0)
y.select(0, 0)
y.select(1, -1)
y[0]
y[:, 1]
y[None, 0]
y.index_select(0, torch.tensor([1, 0]))
y.index_select(1, torch.tensor([2, 0]))
torch.cat([y, s])
torch.cat([s, y * 3], 1)
torch.cat([y, y], -1)
torch.stack([y, y * 2])
torch.hstack([y, y])
torch.vstack([s, y])
y.to(torch.float64)
y.to(torch.int64)
y.double().float()
y.to_dense()
y.to_sparse()
y.to_sparse(1)
y.to_sparse_coo()
y.to_sparse_csr()
y.to_sparse_csc()
y.to_sparse(dense_dim=1)
y.to_dense().to_sparse()
y.to_dense(masked_grad=False)
d.sparse_mask(y)
d.sparse_mask(y.coalesce())
(y * 5).sparse_mask(s)
d + y
d * y
y * d
y * d[0]
torch.add(d, y, alpha=3)
torch.sub(d, y)
y @ d
d @ y
y.to_sparse_coo() @ s.to_sparse_coo()
y @ d[0]
torch.mm(y, d)
torch.addmm(d, y, d, beta=2, alpha=3)
torch.sparse.mm(y.to_sparse(), d)
torch.sparse.mm(y.to_sparse_coo(), s.to_sparse_coo())
torch.sparse.addmm(d, y.to_sparse(), d, alpha=2)
torch.sparse.sampled_addmm(y, d, d, beta=2)
torch.sparse.sum(y, 0)
torch.sparse.sum(y, -1)
torch.sparse.sum(y, (0, 1))
y.sum(0)
y.sum(1, keepdim=True)
y.sum()
y.sum(dtype=torch.float64)
y.clone().mul_(2)
y.clone().mul_(y)
y.clone().add_(s)
y.clone().sub_(y, alpha=2)
y.clone().div_(2)
y.clone().neg_()
y.clone().zero_()
y.clone().copy_(y * 3)
y.coalesce().abs_()
d.clone().add_(y)
d.clone().addmm_(y, d)
torch.zeros_like(y)
torch.ones_like(y)
torch.zeros_like(y, layout=torch.sparse_csr)
torch.nn.functional.linear(d, y)
y.values()
y.coalesce().values()
y.narrow_copy(0, 0, 1)
y.nan_to_num()
torch.add(y, s, out=torch.zeros_like(s))
""".strip().split("\n")
ENDS = ("y.sum()", "y.to_dense().sum()", "torch.sparse.sum(y)", "(y.to_dense() ** 2).sum()", "(y @ d).sum()",
        "y.coalesce().values().sum()", "torch.sparse.mm(y.to_sparse(), d).sum()", "(d + y).sum()",
        "(y.to_dense() * 2).sum() + torch.sparse.sum(y)",
        "y.to_dense(masked_grad=False).sum()", "torch.sparse.sum(y, 0).to_dense().sum()", "(y * d).to_dense().sum()")
PASSES = ("m.backward()", "m.backward(retain_graph=True); m.backward()", "g = torch.autograd.grad(m, leaves)[0]",
          "s.retain_grad(); m.backward(); g = s.grad", "y.retain_grad(); m.backward(); g = y.grad")


def _numbers(draw: random.Random, count: int) -> list[float]:
    return [float(draw.randint(-4, 4)) for _ in range(count)]


def _leaf(draw: random.Random, shape: tuple[int, ...]) -> list[str]:
    """Statements that make the leaves of the program, and the sparse tensor `s`."""
    dense = draw.choice((0, 0, 0, 1)) if len(shape) > 1 else 0
    stored = 0 if 0 in shape else draw.choice((0, 1, 3, 5, 7))
    indices = [[draw.randrange(size) for _ in range(stored)] for size in shape[:len(shape) - dense]]
    values = stored
    for size in shape[len(shape) - dense:]:
        values *= size
    made = f"coo({shape}, {indices}, {_numbers(draw, values)}, {dense})"
    matrix = f"torch.tensor({_numbers(draw, 9)}).reshape(3, 3)"
    layout = draw.choice(("to_sparse()", "to_sparse(1)", "to_sparse_csr()", "to_sparse_csc()", "to_sparse()"))
    return draw.choice((
        [f"s = {made}.requires_grad_()", "leaves = [s]"],
        [f"s = {made}.coalesce().requires_grad_()", "leaves = [s]"],
        [f"s = {made}"],
        [f"s = {made}.to(torch.int64)"],
        [f"x = {matrix}.requires_grad_()", f"s = x.{layout}", "leaves = [x]"],
        [f"s = {matrix}.{layout}.requires_grad_()", "leaves = [s]"],
        ["v = torch.arange(1., 5.).requires_grad_()", "leaves = [v]", draw.choice((
            "s = torch.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 0, 1]], v, (3, 3))",
            "s = torch.sparse_csr_tensor([0, 2, 3, 4], [0, 2, 1, 0], v, (3, 3))",
            "s = torch.sparse_csc_tensor([0, 2, 3, 4], [0, 2, 1, 0], v, (3, 3))",
            "s = torch.sparse_bsr_tensor([0, 1], [0], v.reshape(1, 2, 2), (2, 2))"))]))


def program(seed: int) -> list[str]:
    """The statements of a program."""
    draw = random.Random(seed)
    shape = draw.choice(SHAPES)
    lines = ["leaves = []", *_leaf(draw, shape), "d = torch.arange(float(s.numel())).reshape(s.shape).to(s.dtype) - 2"]
    if draw.random() < 0.4:
        lines.append("leaves.append(d.requires_grad_())")
    lines += ["y = s", *[f"y = {draw.choice(STEPS)}" for _ in range(draw.randint(1, 4))]]
    return [*lines, f"m = {draw.choice(ENDS)}", draw.choice(PASSES)]


def _facts(torch: Any, x: Any) -> Any:
    """What is seen of a tensor: of a compressed one the elements, since their order in a row may differ."""
    if not isinstance(x, torch.Tensor):
        return x
    node, layout = x.grad_fn, str(x.layout)
    facts = [layout, str(x.dtype), tuple(x.shape), x.requires_grad, node and node.name()]
    x = x.detach()
    if layout == "torch.sparse_coo":
        return [*facts, x.is_coalesced(), x.sparse_dim(), x._indices().tolist(), x._values().tolist()]
    return [*facts, (x if layout == "torch.strided" else x.to_dense()).tolist()]


def _coo(torch: Any) -> Any:
    def made(shape: tuple[int, ...], indices: list[list[int]], values: list[float], dense: int) -> Any:
        sparse = len(shape) - dense
        stored = torch.tensor(values).reshape(-1, *shape[sparse:]) if values else torch.zeros(0, *shape[sparse:])
        places = torch.tensor(indices, dtype=torch.int64).reshape(sparse, stored.shape[0])
        return torch.sparse_coo_tensor(places, stored, shape)

    return made


def seen(torch: ModuleType, seed: int) -> list[Any]:
    """What is seen of the variables after each statement. Ends with the first error."""
    space: dict[str, Any] = {"torch": torch, "coo": _coo(torch)}
    found: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in program(seed):
            try:
                exec(line, space)
                leaves = [leaf.grad for leaf in space["leaves"]]
                variables = [space.get(name) for name in ("s", "y", "m", "g")]
                found.append([line, [_facts(torch, x) for x in (*variables, *leaves)]])
            except Exception as error:
                return [*found, [line, error]]
    return found
