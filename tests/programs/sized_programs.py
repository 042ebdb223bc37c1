"""Random functions of tensors of several sizes, to be run as they are and with one plan for all sizes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from programs.compiled_programs import Author, World, different

SPECS = ("normal(n, 3)", "normal(n, 3)", "normal(n)", "normal(3)", "normal(3, n)", "normal(n, 3).t()",
         "normal(2 * n, 3)", "normal(n, 2, 3)", "normal(n, 3, dtype=torch.float64)", "normal(n, 3).mul(3).long()",
         "normal(n, 3) > 0", "normal(n + 1, 3)[1:]", "normal(n, 3).requires_grad_()", "normal(n, 1).expand(n, 3)")
STATEMENTS = (
    "{x} / {x}.shape[0]", "{x}.sum() / len({x})", "{x}.sum({d}) / {x}.numel()", "{x}.view({x}.shape[0], -1)",
    "{x}.new_zeros({x}.shape[0])", "{x}.new_full(({x}.size(0), 3), 0.5)", "torch.arange({x}.shape[0])",
    "{x}[:{x}.shape[0] - 1]", "{x}[-1]", "{x}[:4]", "{x}[-3:]", "{x}[1:-1]", "{x} * (1 / {x}.shape[0])",
    "({x} if {x}.shape[0] > 6 else -{x})", "({x} if {x}.shape[0] == 9 else {x} + 1)", "{x}.expand(2, *{x}.shape)",
    "{x} * {x}.shape[0]", "torch.cat([{x}, {y}])", "torch.cat([{x}, q])", "{x}.t() @ {y}", "{x} @ {y}.t()",
    "{x}.reshape(-1)", "{x}.flatten()", "{x}.mean({d})", "{x} - min({x}.shape[0], 8)", "{x} * {x}.shape[0] ** 0.5",
    "{x} + {x}.shape[0] % 2", "{x}.narrow(0, 1, {x}.shape[0] - 2)", "{x}.std({d})", "F.pad({x}, (1, 1))",
    "{x}.unfold(0, 2, 1)", "{x}[::2]", "{x}.repeat(2, 1)", "F.softmax({x}, {d})", "F.linear({x}, q)", "{x}.sum()",
    "torch.ones({x}.shape[0], 3) * {x}", "sum([{x}[k] for k in range({x}.shape[0])])", "{x}.split({x}.shape[0])[0]",
    "{x}.chunk(2)[0]", "torch.stack([{x}, {x}])", "{x}.norm()", "{x}.view(-1, {x}.shape[-1])", "{x}.var({d})",
    "{x} * {{4: 1., 6: 2.}}.get({x}.shape[0], 3.)", "{x} / float({x}.shape[0])", "{x}.unsqueeze(0).squeeze(0)",
    "{x} * len(str({x}.shape[0]))", "{x}.index_select(0, i)", "torch.full(({x}.shape[0],), 2.)", "{x}.flip(0)",
    "{x}.cumsum(0)", "F.layer_norm({x}, {x}.shape[1:])", "F.cross_entropy({x}, torch.zeros({x}.shape[0]).long())")

TWO_SPECS = ("normal(n, m)", "normal(n, m)", "normal(m, n)", "normal(m, n).t()", "normal(n, m, 3)", "normal(n)",
             "normal(m)", "normal(m, 3)", "normal(3, n)", "normal(2 * n, m)", "normal(n, m).requires_grad_()",
             "normal(n, m, dtype=torch.float64)", "normal(n, 2 * m)[:, ::2]", "normal(n, 1).expand(n, m)",
             "normal(n, m) > 0", "normal(n, m, m)", "normal(1, n, m)", "normal(n + 1, m)[1:]")
TWO_STATEMENTS = (
    "{x} @ {x}.t()", "{x}.t() @ {x}", "{x} @ {y}", "{x} @ {y}.t()", "{x}.reshape(-1)", "{x}.t().reshape(-1)",
    "{x}.reshape({x}.shape[0] * {x}.shape[1])", "{x}.reshape({x}.shape[0] * {x}.shape[1], -1)", "{x}.t()",
    "{x}.view(-1, {x}.shape[-1])", "{x}.reshape({x}.shape[0], -1)", "{x}.sum({d})", "{x}.sum()", "{x}.mean()",
    "{x}.mean({d}, keepdim=True)", "{x}.softmax({d})", "{x} / {x}.numel()", "{x} * {x}.shape[-1]", "{x}[1:]",
    "{x}[:, 1:]", "{x}[..., :-1]", "{x}[:, None] * {y}", "{x}.unsqueeze({d})", "{x}.cumsum({d})", "{x}.flip({d})",
    "torch.cat([{x}, {y}], {d})", "torch.stack([{x}, {x}], {d})", "{x}.transpose(0, -1)", "{x}.contiguous()",
    "{x}.expand(2, *{x}.shape)", "{x}.new_zeros({x}.shape[-1], {x}.shape[0])", "{x}.new_full({x}.shape[:1], 2.)",
    "torch.arange({x}.shape[-1]) * {x}", "torch.ones({x}.shape[0] + {x}.shape[-1])", "{x}.std({d})", "{x}.norm()",
    "({x} if {x}.shape[0] < {x}.shape[-1] else -{x})", "({x} if {x}.numel() > 50 else {x} + 1)", "{x} @ {x}.mT",
    "({x} if {x}.shape[0] > 8 else -{x})", "{x}.amax({d})", "{x}.logsumexp({d})", "F.layer_norm({x}, {x}.shape[-1:])",
    "{x}.movedim(0, -1)", "{x}.flatten(0, 1)", "{x}.unflatten(-1, (-1, {x}.shape[-1]))", "{x}.diagonal()", "{x}.tril()",
    "{x}.var({d})", "F.scaled_dot_product_attention({x}, {x}, {x})", "{x}.narrow(0, 1, {x}.shape[0] - 2)", "{x}[-1]",
    "{x}[:{x}.shape[-1]]", "{x} + {x}.shape[0] * {x}.shape[-1]", "{x}.numel() // {x}.shape[0] * {x}",
    "{x}.sum({d}) + {y}", "torch.outer({x}.reshape(-1), {y}.reshape(-1)[:3])", "{x}.add_(1)", "{x}[0] = 2.",
    "{x}.copy_({y})", "{x}.mul_({y})", "torch.einsum('ij,kj->ik', {x}, {y})", "{x}.repeat(2, 1)",
    "{x}.chunk(2, {d})[0]", "{x}[::2]", "F.pad({x}, (1, 1))", "F.dropout({x}, 0.5)",
    "torch.zeros({x}.shape[-1], {x}.shape[0]) + {x}.t()", "{x}.split({x}.shape[0])[0]")


class Sized:
    """What a comparison found: `difference` is "" if all is alike, `reused` says whether one plan served new sizes."""

    def __init__(self, difference: str, reused: int) -> None:
        self.difference, self.reused = difference, reused


def author(torch: Any, seed: int, smooth: bool, two: bool = False) -> Author:
    """The program of a seed. With `two`, two sizes change."""
    draw = random.Random(seed)
    if two:
        last = draw.choice(("normal(m)", "0.5", "normal(3)", "normal(n)"))
        specs = ["normal(n, m)", *draw.choices(TWO_SPECS, k=2), last]
        return Author(torch, seed, smooth, specs, TWO_STATEMENTS)
    specs = ["normal(n, 3)", draw.choice(SPECS), draw.choice(SPECS), draw.choice(("normal(3, 3)", "0.5", "normal(3)"))]
    return Author(torch, seed, smooth, specs, STATEMENTS)


def compared(torch: Any, head: str, lines: Sequence[str], specs: Sequence[str], sizes: Sequence[Sequence[int]],
             near: float, backend: str, dynamic: bool | None = True) -> Sized:
    """Run a program as it is and compiled, with all sizes. Backward passes outside follow each call."""
    plain = World(torch, head, lines, specs)
    compiled = World(torch, head, lines, specs,
                     lambda function: torch.compile(function, dynamic=dynamic, backend=backend))
    made, found = compiled.function.__closure__, ""
    for number, size in enumerate(sizes):
        seen = [world.call(number, size) for world in (plain, compiled)]
        if isinstance(plain.results[-1], str):             # an error; what is not used may not raise it
            break
        found = found or different(*seen, near, f"call {number} of the sizes {size}")
        seen = [world.backward(number) for world in (plain, compiled)]
        if seen[0]["said"].startswith("one of the variables") and not seen[1]["said"]:
            break
        found = found or different(*seen, near or 16, f"backward {number} of the sizes {size}")
        if found:
            break
        for one, other in zip(*[world.held(world.given[number]) for world in (plain, compiled)], strict=True):
            if one.grad is not None and other.grad is not None and other.grad._array.flags.writeable:
                other.grad._array[...] = one.grad._array
    run = next(cell.cell_contents for cell in made if hasattr(cell.cell_contents, "run")).run
    return Sized(found, sum([getattr(recipe, "code", None) is not None for _, recipe in getattr(run, "entries", ())]))
