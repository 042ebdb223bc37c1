"""Entries for products of vectors and matrices."""

from __future__ import annotations

from op_table.entry import Entry, named

MATRIX = [
    Entry("mm", named("mm"), (((2, 3), (3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 2))), kinds="fci"),
    Entry("bmm", named("bmm"), (((2, 2, 3), (2, 3, 4)),), kinds="fci"),
    Entry("mv", named("mv"), (((2, 3), (3,)),), kinds="fc"),
    Entry("dot", named("dot"), (((3,), (3,)),), kinds="fc"),
    Entry("vdot", named("vdot"), (((3,), (3,)),), kinds="fc"),
    Entry("matmul", named("matmul"), (((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)),
                                      ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 1, 2, 3), (4, 3, 2))),
          kinds="fc"),
    Entry("outer", named("outer"), (((3,), (4,)),), kinds="fc"),
    Entry("addmm", lambda t, b, x, y: t.addmm(b, x, y, beta=0.5, alpha=2),
          (((4,), (2, 3), (3, 4)), ((2, 4), (2, 3), (3, 4))), kinds="fc"),
    Entry("addmv", lambda t, b, x, y: t.addmv(b, x, y, beta=0.5, alpha=2), (((2,), (2, 3), (3,)), ((), (2, 3), (3,))),
          kinds="fc"),
    Entry("addr", lambda t, b, x, y: t.addr(b, x, y, beta=0.5, alpha=2), (((2, 3), (2,), (3,)), ((3,), (2,), (3,))),
          kinds="fc"),
    Entry("addbmm", lambda t, b, x, y: t.addbmm(b, x, y, beta=0.5, alpha=2), (((2, 4), (3, 2, 3), (3, 3, 4)),),
          kinds="fc"),
    Entry("baddbmm", lambda t, b, x, y: t.baddbmm(b, x, y, beta=0.5, alpha=2), (((2, 2, 4), (2, 2, 3), (2, 3, 4)),),
          kinds="fc"),
    Entry("einsum ij,jk", lambda t, x, y: t.einsum("ij,jk->ik", x, y), (((2, 3), (3, 4)),), kinds="fc"),
    Entry("einsum batch", lambda t, x, y: t.einsum("bij,bjk->bik", x, y), (((2, 2, 3), (2, 3, 4)),)),
    Entry("einsum trace", lambda t, x: t.einsum("ii", x), (((3, 3),),)),
    Entry("einsum ellipsis", lambda t, x, y: t.einsum("...i,...i->...", x, y), (((2, 3), (2, 3)),)),
    Entry("tensordot", lambda t, x, y: t.tensordot(x, y, 1), (((2, 3), (3, 4)),)),
]
