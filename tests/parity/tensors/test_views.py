"""Views and memory beside PyTorch: programs whose transcripts must be equal, line by line."""

from __future__ import annotations

import textwrap

import pytest
import torch

import retrograd
from programs.running import transcript

NOTE = """
import numpy as np

def name(node):
    return node and node.name().rpartition("::")[2]

def note(what, x):
    following = [name(node) for node, _ in x.grad_fn.next_functions] if x.grad_fn else []
    print(what, tuple(x.shape), x.stride(), x.storage_offset(), x._version, x._is_view(), x._base is not None,
          x.requires_grad, x.is_leaf, name(x.grad_fn), following, x.output_nr, x.dtype)
"""


def check(program: str) -> None:
    program = NOTE + textwrap.dedent(program)
    assert transcript(retrograd, program) == transcript(torch, program)


VIEWS = """
x[1]; x[0:1]; x[None]; x[...]; x[:, 1]; x[1, None]; x[:, ::2]; x[True]; x.narrow(0, 0, 1); x.select(1, 0); x.view(3, 2)
x.view(torch.int32); x.view(torch.float32); x.view(torch.float16); x.view_as(x); x.reshape(3, 2); x.contiguous()
x.flatten(); x.flatten(0, 0); x.ravel(); x.unflatten(1, (3, 1)); x.transpose(0, 1); x.t(); x.T; x.mT; x.mH; x.H
x.adjoint(); x.permute(1, 0); x.movedim(0, 1); x.moveaxis(0, 1); x.swapaxes(0, 1); x.swapdims(0, 1); x.squeeze()
x.squeeze(0); x.squeeze((0, 1)); x.unsqueeze(0); x.expand(2, 3); x.expand(1, 2, 3); x.expand_as(x)
x.broadcast_to((2, 3)); x.diagonal(); x.unfold(1, 2, 1); x.split(1)[0]; x.split([1, 1])[1]; x.expand(2, 2, 3)[0]
x.chunk(2)[0]; x.tensor_split(2)[0]; x.unbind(0)[0]; x.hsplit(3)[0]; x.vsplit(2)[0]; x[None].dsplit(3)[1]; x.real
x.split_with_sizes([1, 1])[0]; x.as_strided((2,), (1,)); x.as_strided((2, 2), (1, 1), 1); x.detach(); x.data; x[0:2][1]
x.clone(); torch.conj(x); torch.atleast_3d(x); torch.broadcast_tensors(x, x)[0]; x.reshape_as(x)
torch.meshgrid(x[0], x[1], indexing='ij')[0]
"""


@pytest.mark.parametrize("base", ["leaf * 1", "leaf", "leaf.detach().clone()"])
@pytest.mark.parametrize("view", [v for line in VIEWS.strip().split("\n") for v in line.split("; ")])
def test_a_view_and_a_write_through_it(view: str, base: str) -> None:
    check(f"""
        leaf = torch.arange(6.).reshape(2, 3).clone().requires_grad_()
        x = {base}
        v = {view}
        note("view", v)
        print(v is x)
        if v.dtype.is_floating_point and v is not leaf:
            attempt(lambda: note("written", v.mul_(2)))
        note("base", x)
        print(x, v)
        if x.requires_grad:
            x.sum().backward()
            print(leaf.grad)
    """)


GEOMETRY = ["unsqueeze_(0)", "unsqueeze_(-1)", "t_()", "transpose_(0, 1)", "swapaxes_(0, 1)", "swapdims_(-1, 0)",
            "squeeze_()", "squeeze_(0)", "squeeze_((0, 1))", "as_strided_((2, 2), (1, 2))",
            "as_strided_((2, 2), (1, 2), 1)", "transpose_(0, 0)", "unsqueeze_(5)", "squeeze_(7)"]


@pytest.mark.parametrize("change", GEOMETRY)
def test_geometry_in_place(change: str) -> None:
    check(f"""
        def of_a_result():
            leaf = torch.arange(6.).reshape(2, 3).clone().requires_grad_()
            y = leaf * 2
            print(y.{change} is y)
            note("y", y)
            (y * y).sum().backward()
            print(leaf.grad)

        def of_a_base():
            leaf = torch.arange(6.).reshape(2, 3).clone().requires_grad_()
            base = leaf * 2
            view = base[1:]
            base.{change}
            note("base", base), note("view", view)
            base.mul_(2)
            note("base", base), note("view", view)
            (view * view).sum().backward()
            print(leaf.grad)

        attempt(of_a_result), attempt(of_a_base)
        leaf = torch.zeros(2, 3, requires_grad=True)
        attempt(lambda: leaf.{change})
        attempt(lambda: note("constant", torch.zeros(2, 3).{change}))
    """)


@pytest.mark.parametrize("change", GEOMETRY)
def test_geometry_of_a_view_in_place(change: str) -> None:
    check(f"""
        def of_a_view(then, of):
            leaf = torch.arange(12.).reshape(4, 3).clone().requires_grad_()
            base = leaf * 2
            view, other = base[1:3], base[0]
            view.{change}
            if then:
                view.mul_(3)
            note("view", view), note("base", base), note("other", other)
            ((view if of == "view" else base) ** 2).sum().backward()
            print(leaf.grad)

        attempt(lambda: of_a_view(False, "view")), attempt(lambda: of_a_view(True, "view"))
        attempt(lambda: of_a_view(True, "base"))
    """)


def test_a_view_of_a_base_that_was_turned_is_written_to() -> None:
    check("""
        leaf = torch.arange(6.).reshape(2, 3).clone().requires_grad_()
        base = leaf * 2
        view = base[1:]
        base.t_()
        view.mul_(2)
        note("base", base), note("view", view)
        (base * base).sum().backward()
        print(leaf.grad)
        attempt(lambda: torch.zeros(1, 2, 3).t_()), attempt(lambda: (leaf * 2).unbind(0)[0].unsqueeze_(0))
    """)


def test_as_strided_forward_and_back() -> None:
    check("""
        x = torch.arange(1., 4.).requires_grad_()
        geometries = [((3,), (0,), 0), ((2, 2), (1, 1), 0), ((2,), (1,), 1), ((1,), (5,), 1), ((), (), 2)]
        for base in (x[:1].expand(3), x.unfold(0, 2, 1), x.expand(2, 3), x[:, None].expand(3, 2), x * 1):
            for geometry in geometries:
                z = base.as_strided(*geometry)
                note("z", z)
                g = torch.arange(1., 1 + z.numel()).reshape(z.shape)
                print(torch.autograd.grad(z, (base, x), g, retain_graph=True))
        x = torch.arange(6.)
        for arguments in (((2,), (1,), 5), ((2,), (-1,)), ((2,), (1, 2)), ((2,), (1,), -5), ((2.,), (1,)), (2, 1)):
            attempt(lambda: x.as_strided(*arguments))
        attempt(lambda: x[2:].as_strided((2,), (1,))), attempt(lambda: x[2:].as_strided((2,), (1,), 0))
        attempt(lambda: x.as_strided((3, 2), (0, 1)).add_(1))
        for sizes in (((2, 3), (1, 2)), ((2, 3), (0, 2)), ((2, 3), (1,)), ((2, -3), (1, 2)), ((), ())):
            attempt(lambda: torch.empty_strided(*sizes).stride())
    """)


def test_windows_that_overlap_are_written_in_order() -> None:
    check("""
        x = torch.arange(6.)
        x.as_strided((3, 2), (1, 1)).add_(1)
        print(x)
        x.unfold(0, 3, 1).mul_(2)
        print(x)
        u = x.unfold(0, 3, 1)
        attempt(lambda: u.exp_()), attempt(lambda: u.copy_(torch.ones(4, 3))), attempt(lambda: u.fill_(3))
        d = torch.ones(3).expand(3, 3).diagonal()
        attempt(lambda: d.add_(1))
        w = torch.ones(3).expand(2, 3).unfold(1, 2, 1)
        attempt(lambda: w.add_(1)), attempt(lambda: w[0].add_(1))
        e = torch.arange(3.).expand(2, 3)
        attempt(lambda: e.copy_(e)), attempt(lambda: e.copy_(torch.ones(3))), attempt(lambda: e[:, 0].add_(1))
        leaf = torch.arange(6.).requires_grad_()
        y = leaf * 1
        v = y.as_strided((2, 2), (1, 2), 1)
        v.mul_(leaf[:2])
        g, = torch.autograd.grad((y * y).sum(), leaf, create_graph=True)
        print(g)
        (g * g).sum().backward()
        print(leaf.grad)
    """)


def test_a_write_to_a_view_of_memory_in_another_order() -> None:
    check("""
        leaf = torch.arange(6.).reshape(2, 3).requires_grad_()
        base = torch.empty_strided((2, 3), (1, 2)).copy_(leaf)
        view = base.t().view(-1)
        view.mul_(3)
        note("base", base)
        g, = torch.autograd.grad((base * base).sum(), leaf, create_graph=True)
        print(g)
        g.sum().backward()
        print(leaf.grad)
    """)


SCATTERS = ["select_scatter(s(4), 0, 1)", "select_scatter(s(3), -1, -1)", "select_scatter(s(3), 0, 1)",
            "select_scatter(s(3), 2, 1)", "select_scatter(s(4), 0, 7)", "slice_scatter(s(2, 4), 0, 1, 3)",
            "slice_scatter(s(3, 2), 1, 0, 4, 2)", "slice_scatter(s(3, 4))", "slice_scatter(s(3, 2), 1, -2)",
            "slice_scatter(s(3, 4), 0, 1, 3)", "slice_scatter(s(3, 4), 0, 1, 3, 0)", "diagonal_scatter(s(3))",
            "diagonal_scatter(s(3), -1, 1, 0)", "diagonal_scatter(s(4))", "diagonal_scatter(s(3), 0, 0, 0)"]


@pytest.mark.parametrize("call", SCATTERS)
def test_views_replaced(call: str) -> None:
    check(f"""
        leaf = torch.arange(12.).reshape(3, 4).clone().requires_grad_()
        put = []
        def s(*shape):
            put.append(torch.full(shape, 9.).requires_grad_())
            return put[-1]
        def run():
            y = leaf.{call}
            note("y", y)
            print(y)
            print(torch.autograd.grad((y * y).sum(), (leaf, put[-1])))
        attempt(run)
    """)


def test_fill_diagonal() -> None:
    check("""
        for shape in ((3, 3), (5, 2), (2, 5), (3, 3, 3), (7, 3), (4,), (2, 3, 3)):
            for wrap in (False, True):
                x = torch.zeros(shape)
                attempt(lambda: x.fill_diagonal_(5, wrap))
                print(x._version)
                leaf = torch.ones(shape, requires_grad=True)
                def run():
                    y = (leaf * 1).fill_diagonal_(2., wrap=wrap)
                    note("y", y)
                    (y * y).sum().backward()
                    print(leaf.grad)
                attempt(run)
    """)


def test_storages() -> None:
    check("""
        x = torch.arange(6.).reshape(2, 3)
        s = x.untyped_storage()
        print(type(s).__name__, s.nbytes(), s.size(), len(s), s.data_ptr() == x.data_ptr(), s.device, s.element_size())
        print(x.t().untyped_storage() is s, x[1].untyped_storage().data_ptr() == s.data_ptr())
        print((x + 0).untyped_storage() == s, s[7], s[-1], s.tolist(), s[0:5])
        attempt(lambda: s[24])
        s[3] = 64
        print(x, s.clone().nbytes(), torch.is_storage(s), torch.is_storage(x))
        attempt(lambda: s.copy_((x + 1).untyped_storage()) is s), attempt(lambda: s.copy_(torch.UntypedStorage(4)))
        print(x, s.fill_(0) is s, x, torch.UntypedStorage([1, 2, 3]).tolist())
        print(torch.empty(0).data_ptr(), x[:0].data_ptr(), torch.empty(0).untyped_storage().nbytes())
        print(x.is_set_to(x.view(2, 3)), x.is_set_to(x[1:]), x.is_set_to(x.detach()), x.is_set_to(x + 0))
        a = np.arange(10.)
        y = torch.from_numpy(a[2:])
        note("y", y), note("z", torch.from_numpy(a[::2]))
        print(y.untyped_storage().nbytes(), torch.from_numpy(a[::2]).untyped_storage().nbytes())
        torch.from_numpy(a).add_(1)
        print(y, y._version)
        note("data", y[2:].data), note("detached", y[2:].detach())
    """)


def test_other_memory_in_place() -> None:
    check("""
        x = torch.arange(6.)
        x.add_(1)
        other = torch.ones(2, 2)
        other.add_(1), other.add_(1)
        x.data = other
        note("x", x), note("other", other)
        x.mul_(2)
        note("x", x), note("other", other)
        print(other)
        x.set_(torch.zeros(3))
        note("x", x)
        x.set_()
        note("x", x)
        s = torch.arange(6.).untyped_storage()
        x.set_(s), note("x", x), x.set_(s, 1, (2, 2), (1, 2)), note("x", x)
        print(x)
        attempt(lambda: x.set_(s, 0, (2,), (1, 2))), attempt(lambda: x.set_(s, -1, (2,), (1,)))
        attempt(lambda: x.set_(torch.arange(3)))
        leaf = torch.zeros(2, requires_grad=True)
        attempt(lambda: leaf.set_(torch.ones(3)))
        y = leaf * 2
        y.set_(torch.ones(3))
        note("y", y)
        attempt(lambda: y.sum().backward())
        leaf.data = torch.ones(4, dtype=torch.float64)
        note("leaf", leaf)
        (leaf * leaf).sum().backward()
        print(leaf.grad)
        def integers():
            leaf.data = torch.ones(3, dtype=torch.int64)
        attempt(integers)
        r = torch.zeros(2, 3)
        r.resize_(3, 2), note("r", r), r.resize_(2), note("r", r), r.resize_as_(torch.ones(1, 2)), note("r", r)
        attempt(lambda: leaf.resize_(2))
    """)


def test_memory_formats() -> None:
    check("""
        w = torch.ones(2, 3, 4, 5)
        last = torch.channels_last
        c = w.contiguous(memory_format=last)
        print(w.is_contiguous(memory_format=last), c.stride(), c.is_contiguous(memory_format=last), c.is_contiguous())
        print(w.to(memory_format=last).stride(), w.clone(memory_format=last).stride(), (c * 2).stride())
        print(torch.empty_like(w, memory_format=last).stride(), torch.zeros_like(c).stride(), c.dim_order())
        attempt(lambda: torch.ones(2, 3).is_contiguous(memory_format=last))
        attempt(lambda: torch.ones(2, 3).contiguous(memory_format=last))
        attempt(lambda: torch.ones(2, 3).contiguous(memory_format=3))
    """)


DTYPES = ["float32", "float64", "float16", "int64", "uint8", "bool", "complex64"]


@pytest.mark.parametrize("into", DTYPES)
def test_copies_across_types(into: str) -> None:
    check(f"""
        import warnings
        warnings.simplefilter("ignore")
        for dtype in ({", ".join(f"torch.{name}" for name in DTYPES)}):
            src = torch.tensor([1, 0, 2, 100], dtype=dtype)
            if dtype.is_floating_point or dtype.is_complex:
                src = (src * 1.5 if dtype.is_floating_point else src * (1 + 1j)).requires_grad_()
            y = torch.zeros(2, 4, dtype=torch.{into})
            if not y.dtype.is_floating_point and not y.dtype.is_complex:
                src = src.detach()
            attempt(lambda: y.copy_(src))
            note("y", y)
            if y.requires_grad:
                (y * y.conj()).real.sum().backward()
                print(src.grad)
    """)


def test_augmented_operators() -> None:
    check("""
        operands = ["2", "2.5", "True", "torch.tensor([2, 1])", "torch.tensor(2., dtype=torch.float64)", "'a'", "None",
                    "torch.tensor([[1, 2], [1, 1]])", "torch.tensor([1j, 2])"]
        for operator in "+= *= /= //= %= **= <<= >>= &= |= ^= @=".split():
            for dtype in (torch.float32, torch.int64, torch.bool, torch.uint8):
                for operand in operands:
                    x = torch.tensor([5, 3], dtype=dtype)
                    names = {"x": x, "torch": torch}
                    if (operator, operand, dtype) in {("//=", "True", torch.bool), ("%=", "True", torch.bool)}:
                        continue
                    def run():
                        exec(f"x {operator} {operand}", names)
                        print(operator, operand, names["x"] is x, x._version, names["x"])
                    attempt(run)
    """)
