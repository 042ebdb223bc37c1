"""Operators of torch.library do and say the same with retrograd as with PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import retrograd

PREAMBLE = """
from typing import List, Optional, Sequence, Tuple
from contextlib import suppress
Tensor, L = torch.Tensor, torch.library
def attempt(function):
    try:
        show(function())
    except Exception as error:
        text = str(error)
        for added in (" Got func", "The valid types", "For more details", ". Return"):
            text = text.split(added)[0].strip()
        show(type(error).__name__, text.split("\\n")[0][:160].rstrip(". "))
def make(name, fn, **options):
    return L.custom_op(SPACE + "::" + name, fn, **{"mutates_args": (), **options})
x = torch.tensor([1.0, 2.0], requires_grad=True)
"""
PROGRAMS = {
    "schemas": """
        def f1(x: Tensor, y: Optional[Tensor], z: int = 3, w: float = 1.5, b: bool = True, s: str = "a",
               d: torch.dtype = torch.float32, e: torch.device = "cpu") -> Tensor: ...
        def f2(x: List[Tensor], y: Sequence[int], z: Optional[List[float]] = None, *,
               k: int = 2) -> Tuple[Tensor, Tensor]: ...
        def f3(x: Tensor) -> None: ...
        def f4(x: list[Tensor], y: Tensor, z: Tensor | None = None, n: torch.types.Number = 1) -> List[Tensor]: ...
        def f5(x) -> Tensor: ...
        def f6(x: Tensor, *a: int) -> Tensor: ...
        def f7(x: dict) -> Tensor: ...
        def f8(x: Tensor) -> dict: ...
        def f9(x: Tensor): ...
        def f10(x: Tensor) -> Tuple[Tensor, int, float]: ...
        def f11(x: Tensor, y: Tuple[int, int]) -> int: ...
        def f12(x: Tensor, y: List[int] = [1]) -> bool: ...
        def f13(x: Tensor, y: List[Optional[Tensor]], q: List[bool] = None) -> Tuple[Tensor]: ...
        def f14(x: Tensor, y: "Foo") -> int: ...
        def f15(x: Tensor, y: float = 1e-6, s: str = "it's", z: float = float("inf"), i: int = -2) -> Tensor: ...
        for f in (f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15):
            attempt(lambda: L.infer_schema(f, mutates_args=()))
        for names in ({"x"}, {"x", "y"}, "unknown", {"z"}, {"nope"}, "x"):
            attempt(lambda: L.infer_schema(f1, mutates_args=names))
        attempt(lambda: L.infer_schema(f2, mutates_args=["x"]))
        attempt(lambda: L.infer_schema(f1, mutates_args=(), op_name="name"))
        for f in (f1, f2, f10):
            show(make(f.__name__, f)._opoverload._schema)
    """,
    "calls": """
        def scaled(x: Tensor, k: float = 2.0) -> Tensor:
            return x.sin() * k
        op = make("scaled", scaled)
        show(repr(op), op._schema, op._opoverload, op._qualname)
        packet = getattr(getattr(torch.ops, SPACE), "scaled")
        show(packet, packet.default, str(packet.default), packet.overloads(), packet.default.name())
        show(packet.default._schema)
        attempt(lambda: packet.other)
        attempt(lambda: getattr(torch.ops, SPACE).nope)
        for call in (op, packet, packet.default):
            for args in ((x,), (x, 3), (x, True), (x, torch.tensor(2.0)), (3,), (x, "a"), (x, 1.0, 2.0), (), ([x],),
                         (x, None)):
                attempt(lambda: call(*args))
            attempt(lambda: call(x, k=3))
            attempt(lambda: call(x, q=3))
            attempt(lambda: call(x, x=x))
        show(type(op(x).grad_fn).__name__, op(x).grad_fn.name(), op(x).grad_fn.needs_input_grad)
        attempt(lambda: op(x).sum().backward())
        with torch.no_grad():
            show(op(x))
    """,
    "values": """
        seen = []
        def f(x: Tensor, k: int, l: List[int], o: Optional[int] = None, d: torch.dtype = torch.float32, s: str = "a",
              n: torch.types.Number = 2) -> Tensor:
            seen.append((k, l, o, str(d), s, n))
            return x * 2
        op = make("values", f)
        for args in ((3, [1]), (3.5, [1]), (True, [1]), (torch.tensor(3), [1]), (3, (1, 2)), (3, 5), (3, [1.5]),
                     (3, [1], 2.0), (3, [1], None, torch.float64), (3, [1], None, "float"),
                     (3, [1], None, torch.float32, 3),
                     (3, [1], None, torch.float32, "b", 1j), (3, [1], None, torch.float32, "b", "q"), (3, [1], 1)):
            attempt(lambda: op(x, *args))
        show(seen)
        def returned(name, annotation, fn):
            fn.__annotations__ = {"x": Tensor, "return": annotation}
            attempt(lambda: make(name, fn)(x.detach()))
        returned("a", Tensor, lambda x: 3)
        returned("b", Tensor, lambda x: (x * 2, x * 3))
        returned("c", Tuple[Tensor, int], lambda x: (x * 2, 3))
        returned("d", Tuple[Tensor, Tensor], lambda x: [x * 2, x * 3])
        returned("e", Tuple[Tensor, Tensor], lambda x: x * 2)
        returned("f", Tuple[Tensor], lambda x: (x * 2,))
        returned("g", List[Tensor], lambda x: (x * 2,))
        returned("h", None, lambda x: x * 2)
        returned("i", int, lambda x: 3)
    """,
    "gradients": """
        def setup(ctx, inputs, output):
            show(len(inputs), inputs[1:], type(output).__name__, ctx.needs_input_grad)
            ctx.save_for_backward(inputs[0])
            ctx.k = inputs[1]
        def square(x: Tensor, k: float = 2.0) -> Tensor:
            return torch.from_numpy(x.detach().numpy() ** 2) * k
        op = make("square", square)
        op.register_autograd(lambda ctx, g: (2 * g * ctx.saved_tensors[0] * ctx.k, None), setup_context=setup)
        show(torch.autograd.grad(op(x).sum(), x), torch.autograd.grad(op(x, 3.0).sum(), x))
        d = x.detach().double().requires_grad_()
        show(torch.autograd.gradcheck(op, d), torch.autograd.gradgradcheck(op, d))
        for bad in ((lambda ctx, g: (g, None, None)), (lambda ctx, g: g), (lambda ctx, g: (g, g)), (lambda ctx, g: ()),
                    (lambda ctx, g: 3), None):
            op.register_autograd(bad)
            attempt(lambda: torch.autograd.grad(op(x, 3.0).sum(), x))
            attempt(lambda: torch.autograd.grad(op(x).sum(), x))
        def keyed(x: Tensor, *, val: float) -> Tensor:
            return x * val
        op = make("keyed", keyed)
        op.register_autograd(lambda ctx, g: g * ctx.val, setup_context=lambda ctx, inputs, keyword_only_inputs, output:
                             setattr(ctx, "val", keyword_only_inputs["val"]))
        show(torch.autograd.grad(op(x, val=3.0).sum(), x))
        attempt(lambda: op(x, 3.0))
        def both(x: Tensor) -> Tuple[Tensor, Tensor]:
            return x * 2, x > 1
        op = make("both", both)
        op.register_autograd(lambda ctx, g, h: (show(g, h), g * 2)[1])
        show(op(x), torch.autograd.grad(op(x)[0].sum(), x))
    """,
    "lists": """
        a, b = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
        def doubled(x: List[Tensor]) -> List[Tensor]:
            return [each * 2 for each in x]
        op = make("doubled", doubled)
        op.register_autograd(lambda ctx, g: (show(g, ctx.needs_input_grad), [each * 2 for each in g])[1])
        show(op([a, b]), op((a,)))
        total = lambda: torch.autograd.grad(sum(t.sum() for t in op([a, b])), (a, b))
        show(total())
        for bad in ((lambda ctx, g: [g[0]]), (lambda ctx, g: g[0]), (lambda ctx, g: {"a": g[0]})):
            op.register_autograd(bad)
            attempt(total)
        def weighted(xs: List[Tensor], w: List[float]) -> Tensor:
            return sum(x * k for x, k in zip(xs, w))
        op = make("weighted", weighted)
        op.register_autograd(lambda ctx, g: ([g * k for k in ctx.w], None),
                             setup_context=lambda ctx, inputs, output: setattr(ctx, "w", inputs[1]))
        show(torch.autograd.grad(op([a, a * 3], [1.0, 2.0]).sum(), a))
        show(len(op([a, b], [1.0, 2.0]).grad_fn.next_functions))
        op.register_vmap(lambda info, dims, xs, w: (show(dims), (op(xs, w), 0))[1])
        show(torch.vmap(lambda p, q: op([p, q], [1.0, 2.0]))(torch.ones(3, 2), torch.ones(3, 2)))
    """,
    "batches": """
        def scaled(x: Tensor, k: float) -> Tensor:
            return torch.from_numpy(x.detach().numpy() ** 2) * k
        op = make("scaled", scaled)
        run = lambda: torch.vmap(lambda x: op(x, 3.0))(torch.ones(3, 2))
        attempt(run)
        for rule in (lambda info, dims, x, k: (show(tuple(info), dims, x.shape, k), (op(x, k), 0))[1],
                     lambda info, dims, x, k: (op(x, k), 0, 0), lambda info, dims, x, k: [op(x, k), 0],
                     lambda info, dims, x, k: (op(x, k), (0, 0)), lambda info, dims, x, k: (op(x, k), None),
                     lambda info, dims, x, k: (op(x, k), -1), lambda info, dims, x, k: (op(x, k), 5),
                     lambda info, dims, x, k: None, lambda info, dims, x, k: (3, 0)):
            show(op.register_vmap(rule))
            attempt(run)
        op.register_vmap(lambda info, dims, x, k: (op(x, k), 0))
        show(torch.vmap(torch.vmap(lambda x: op(x, 2.0)))(torch.ones(2, 3, 1)))
        def two(x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor]:
            return x * y, x + y
        op = make("two", two)
        for dims in (0, (0, 0), (0,)):
            op.register_vmap(lambda info, in_dims, x, y: (two(x, y), dims))
            attempt(lambda: torch.vmap(op, in_dims=(0, None))(torch.ones(3, 2), torch.ones(2)))
    """,
    "memory": """
        def same(x: Tensor) -> Tensor:
            return x
        def view(x: Tensor) -> Tensor:
            return x[:1]
        def twice(x: Tensor) -> Tuple[Tensor, Tensor]:
            y = x * 2
            return y, y
        def said(f):
            with suppress(RuntimeError):
                make(f.__name__, f)(torch.ones(2))
                show("taken")
        said(same), said(view), said(twice)
        def grow(x: Tensor) -> None:
            x.add_(1)
        op, z, y = make("grow", grow, mutates_args={"x"}), torch.zeros(2), x * 1
        show(op(z), z, z._version, op(y), y, y._version)
        attempt(lambda: op.register_autograd(lambda ctx, g: g))
        op = make("same_", same, mutates_args={"x"}, tags=torch.Tag.inplace)
        show(op(z) is z)
        for schema in ("(Tensor x) -> Tensor", "(Tensor(a!) x) -> Tensor", "(Foo x) -> Tensor"):
            attempt(lambda: make("given", lambda x: x * 2, schema=schema)(x.detach()))
        for name in ("a", "a::b::c", "prim::a"):
            attempt(lambda: L.custom_op(name, same, mutates_args=()))
        def by_name(x: Tensor, *, y: Tensor) -> Tensor: ...
        attempt(lambda: make("by_name", by_name))
    """,
    "kernels": """
        def f(x: Tensor) -> Tensor:
            return x * 2
        op = make("f", f)
        show(op.register_kernel("cpu", lambda x: x * 3) is not f, op(x.detach()))
        with op.set_kernel_enabled("cpu", False):
            show(op(x.detach()))
        show(op(x.detach()))
        op.register_kernel(["cpu", "cuda"])(lambda x: x * 5)
        show(op(x.detach()))
        attempt(lambda: op.register_kernel("foo", f))
        only = make("only", f, device_types="cuda")
        with suppress(NotImplementedError):
            only(x.detach())
            show("computed")
        kernel = lambda op, f: L.register_kernel(op, "cpu", f)
        for register in (L.register_fake, L.register_autograd, L.register_vmap, kernel):
            attempt(lambda: register(3, f))
        attempt(lambda: L.register_vmap(SPACE + "::nope", f))
        op.register_fake(lambda x: torch.empty_like(x))
        show(op(torch.ones(2, device="meta")).shape)
    """,
    "libraries": """
        lib = L.Library(SPACE, "FRAGMENT")
        ops = getattr(torch.ops, SPACE) if lib.define("plus(Tensor x, float k=1) -> Tensor") == "plus" else None
        with suppress(NotImplementedError):
            ops.plus(x)
            show("computed")
        show(lib.impl("plus", lambda x, k=1.0: x + k, "CPU"), ops.plus(x.detach()), ops.plus(x.detach(), 3))
        attempt(lambda: lib.impl("plus", lambda x: x, "Foo"))
        attempt(lambda: lib.impl("plus", 3, "CPU"))
        show(lib.define("times(Tensor x, float k=3) -> Tensor"))
        lib.impl("times", lambda x, k=3.0: x * k, "CompositeImplicitAutograd")
        show(ops.times(x), torch.autograd.grad(ops.times(x, 5.0).sum(), x))
        show(L.define(SPACE + "::triple", "(Tensor x) -> Tensor"), L.impl(SPACE + "::triple", "cpu", lambda x: x * 3))
        L.register_autograd(SPACE + "::triple", lambda ctx, g: g * 3)
        show(ops.triple(x), torch.autograd.grad(ops.triple(x).sum(), x))
        L.register_vmap(SPACE + "::triple", lambda info, dims, x: (x * 4, 0))
        show(torch.vmap(ops.triple)(torch.ones(2)))
        attempt(lambda: L.Library("q", "FOO"))
        attempt(lambda: L.Library("prim", "DEF"))
        attempt(lambda: L.define("foo", "(Tensor x) -> Tensor"))
        attempt(lambda: L.define("t::bar", "bar(Tensor x) -> Tensor"))
        attempt(lambda: L.define(3, "(Tensor x) -> Tensor"))
        with L._scoped_library(SPACE, "FRAGMENT") as scoped:
            scoped.define("short(Tensor x) -> Tensor")
            scoped.impl("short", lambda x: x * 7, "CPU")
            show(ops.short(x.detach()))
        attempt(lambda: ops.short)
    """,
    "lifetimes": """
        def added(amount):
            more = L.Library(SPACE, "IMPL", "CPU")
            more.impl("lives", lambda x: x + amount)
            return more
        lib = L.Library(SPACE, "FRAGMENT")
        lib.define("lives(Tensor x) -> Tensor")
        lib.impl("lives", lambda x: x + 1, "CPU")
        ops = getattr(torch.ops, SPACE)
        first, second, third = added(10), added(20), added(30)
        show(ops.lives(torch.ones(1)))
        del second
        show(ops.lives(torch.ones(1)))
        del third
        show(ops.lives(torch.ones(1)))
        del lib
        attempt(lambda: ops.lives)
        lib = L.Library(SPACE, "FRAGMENT")
        lib.define("lives(Tensor x) -> Tensor")
        show(ops.lives(torch.ones(1)))
        del first
        attempt(lambda: ops.lives(torch.ones(1)))
    """,
    "opcheck": """
        def good(x: Tensor) -> Tensor:
            return x * 2
        op = make("good", good)
        def check(**k):
            found = L.opcheck(op, (torch.ones(2),), raise_exception=False, **k)
            return {name: str(value) for name, value in found.items()}
        show(check())
        op.register_fake(lambda x: torch.empty_like(x))
        show(check(), check(test_utils="test_schema"), check(test_utils=()))
        op.register_fake(lambda x: x.new_empty(5))
        show(check(test_utils="test_faketensor"))
        def writing(x: Tensor) -> Tensor:
            x.add_(1)
            return x * 2
        op = make("writing", writing)
        show(check(test_utils="test_schema"))
        attempt(lambda: L.opcheck(op, (torch.ones(2),), test_utils="test_schema"))
        attempt(lambda: L.opcheck(op, (torch.ones(2),), test_utils="test_foo"))
        show(L.opcheck(torch.ops.aten.sin.default, (torch.ones(1),)))
        attempt(lambda: L.opcheck(op, (torch.ones(2),), rtol=1))
        y, FAKE = torch.ones(2, 3), dict(test_utils="test_faketensor")
        def told(name, fn, fake):
            def error():
                return str(L.opcheck(made, (y,), raise_exception=False, **FAKE)["test_faketensor"]).replace(SPACE, "")
            made = make(name, fn)
            made.register_fake(fake)
            attempt(error)
        def by_columns(x: Tensor) -> Tensor: return x.t().contiguous().t()
        def two(x: Tensor) -> List[Tensor]: return [x * 1, x * 2]
        def inside(x: Tensor) -> Tensor: return torch.zeros(12)[6:].view(2, 3)
        told("by_columns", by_columns, lambda x: torch.empty(2, 3))
        told("two", two, lambda x: [torch.empty_like(x)])
        told("two", two, lambda x: [torch.empty_like(x), x.new_empty(3)])
        told("two", two, lambda x: [torch.empty_like(x), x])
        told("inside", inside, torch.empty_like)
        attempt(lambda: list(L.opcheck(getattr(torch.ops, SPACE).inside, (y,), test_utils="test_schema")))
        cast = make("cast", by_columns)
        cast.register_autocast("cpu", torch.bfloat16)
        with torch.autocast("cpu"):
            show([cast(y.to(d)).dtype for d in (torch.float32, torch.float64, torch.int64)])
    """,
}


def transcript(module: Any, name: str) -> list[str]:
    lines: list[str] = []

    def show(*values: Any) -> None:
        lines.append(" ".join(map(repr, values)).replace("retrograd", "torch"))

    program = PREAMBLE + PROGRAMS[name].replace("\n        ", "\n")
    space = f"parity_{list(PROGRAMS).index(name)}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(program, name, "exec", dont_inherit=True), {"torch": module, "show": show, "SPACE": space})
    return lines


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, name) == transcript(torch, name)
