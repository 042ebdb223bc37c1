"""The differences that random programs of operators once found, as plain programs: one step a line, for every torch."""

FOUND = {
    "rsub names the sizes of what it subtracts from first": """
        t0 = torch.rsub(torch.ones(2, 3), torch.ones(2, 2))
        t1 = torch.rsub(torch.ones(2, 3), torch.ones(3, 2), alpha=2)
        t2 = torch.rsub(torch.ones(2, 3) > 0, torch.ones(3, 2))""",
    "the mean beside a variance of one element": """
        t0 = torch.tensor([[2., 3.]], requires_grad=True)
        t1, t2 = torch.var_mean(t0, 0)
        t3, = derivatives([t2], [t0], True)
        t4, t5 = torch.std_mean(t0, 0, keepdim=True)
        t6, = derivatives([t5], [t0], True)
        t7, = derivatives([t6], [t0], False)""",
    "an integral of no samples keeps its type": """
        t0 = torch.trapezoid(torch.zeros((0, 3), dtype=torch.int32), dim=0)
        t1 = torch.trapz(torch.zeros((2, 0), dtype=torch.bool))
        t2 = torch.cumulative_trapezoid(torch.zeros((2, 0), dtype=torch.bool))""",
    "what is saved of erfinv is its input": """
        t0 = torch.tensor([0.5, -0.25], dtype=torch.float64, requires_grad=True)
        t1 = t0.erfinv()
        t1.tanh_()
        t2, = derivatives([t1], [t0], True)
        t3, = derivatives([t2], [t0], False)""",
    "a gradient that would end in ints": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = t0.sum(dtype=torch.int32)
        t1 = t0.sum(0, dtype=torch.int32)
        t1 = t0.nansum(0, dtype=torch.uint8)
        t1 = t0.prod(dtype=torch.int64)
        t1 = t0.cumsum(0, dtype=torch.int64)
        t1 = t0.cumprod(0, dtype=torch.int64)
        with torch.no_grad(): t1 = t0.cumprod(0, dtype=torch.int64)
        t2 = torch.tensor([1, 2])
        t3 = t2.select_scatter(t0[0], 0, 0)
        t3 = t2.slice_scatter(t0[:1], 0, 0, 1)
        t3 = torch.ones((2, 2), dtype=torch.int64).diagonal_scatter(t0)
        t4 = torch.tensor([1j, 2.]).select_scatter(t0[0], 0, 0)
        t4 = torch.tensor([1j, 2.], requires_grad=True).slice_scatter(t0[:1], 0, 0, 1)""",
    "an expanded tensor, as another type": """
        t0 = torch.arange(4).reshape(2, 2).expand(2, 2, 2)
        t1 = t0.sin()
        t2 = t0 * 2.5
        t3 = t0.float().erfc()
        t4 = torch.isreal(t0.float())
        t5 = (t0 > 1).clip(1)
        t6 = torch.special.erfcx(t0.double())
        t7 = torch.nan_to_num(t0.mT > 1)""",
    "quarter turns lie in memory as they are made": """
        t0 = torch.arange(24.).reshape(2, 3, 4)
        t1 = t0.expand(2, 2, 3, 4).rot90()
        t2 = t0.rot90(2, [0, 1])
        t3 = t0.mT.rot90(3, [0, 2])
        t4 = t0.mT.rot90(-1)
        t5 = t0.mT.rot90(0)""",
    "what is sorted lies in memory as it was": """
        t0 = torch.tensor([[3., 1., 2.], [0., 5., 4.]]).repeat(2, 1, 1)
        t1, t2 = t0.permute(2, 0, 1).sort(0)
        t3, t4 = t0.mT.sort(dim=1, stable=True)
        t5 = t0.mT.argsort(0)
        t6 = t0.permute(1, 2, 0)[::2].msort()
        t7 = torch.nn.functional.logsigmoid(t0.permute(2, 0, 1))
        t8 = torch.nn.functional.one_hot(torch.arange(6).reshape(1, 2, 3).mT)
        t10 = t0.mT.index_fill(0, torch.tensor([1]), 2.)
        t11 = t0.permute(2, 0, 1).index_put((torch.tensor([0]),), torch.tensor(1.))
        t12 = t0.permute(2, 0, 1).select_scatter(t0[:, 0], 0, 1)
        t13 = t0.mT.slice_scatter(t0.mT[1:], 0, 1, 4)
        t9 = torch.nn.functional.glu(t0[:, :, :2].transpose(0, -1))""",
    "a loss has the type of its target": """
        t0 = torch.tensor([1., -2.], dtype=torch.float64, requires_grad=True)
        t1 = torch.tensor([0.5, 1.], requires_grad=True)
        t2 = torch.nn.functional.binary_cross_entropy_with_logits(t0, t1)
        t3 = torch.nn.functional.binary_cross_entropy_with_logits(t1, t0, reduction='none')
        t4, t5, = derivatives([t2, t3], [t0, t1], True)
        t6, t7, = derivatives([t4, t5], [t0, t1], False)
        torch.nn.functional.binary_cross_entropy_with_logits(t1, t1, weight=t1)
        torch.nn.functional.binary_cross_entropy_with_logits(t1, t1, pos_weight=t1)""",
    "nodes without a derivative have no place for constants": """
        t0 = torch.tensor([1., 2.], requires_grad=True)
        t1 = torch.floor_divide(t0, torch.ones(2))
        t2 = torch.floor_divide(torch.ones(2), t0)
        t3 = torch.heaviside(torch.ones(2), t0)""",
    "contractions over a dimension of size 1, and of what is not contiguous": """
        t0 = torch.ones((2, 1), requires_grad=True)
        t1 = torch.inner(t0, torch.ones((3, 1)))
        t2 = torch.tensordot(torch.ones((1, 1, 3), dtype=torch.int8), torch.ones((1, 2), dtype=torch.int8), 1)
        t3 = torch.tensor([1., 2., 3., 4.], requires_grad=True)
        t4 = torch.inner(t3[::2], t3[:2])
        t5 = torch.tensordot(t3.view(2, 2).mT, t3.view(2, 2), 2)
        t6 = torch.inner(torch.ones(1, requires_grad=True), torch.ones(1))
        t7, t8, = derivatives([t1, t4, t5], [t0, t3], True)
        t9, t10, = derivatives([t7, t8], [t0, t3], False)
        t11 = t3.view(2, 2).mT.diagflat()""",
    "a write over nothing": """
        t0 = torch.ones(3).expand(0, 3)
        t0.log10_()
        t0.add_(1)
        t1 = torch.zeros((0,), dtype=torch.int16)
        t2 = t1.median()
        t3 = t1.long().median()
        t4, t5 = t1.cummin(-2)""",
    "sums of products that do not fit in their place": """
        torch.ones(2).addmm_(torch.ones(1, 2), torch.ones(2, 2))
        torch.ones(1, 2).addmm_(torch.ones(2, 2), torch.ones(2, 2))
        torch.ones(1).addmv_(torch.ones(2, 2), torch.ones(2))
        torch.ones(2, 2).baddbmm_(torch.ones(3, 2, 2), torch.ones(3, 2, 2))
        torch.ones(1, 2).addr_(torch.ones(2), torch.ones(2))
        torch.ones(2).addr_(torch.ones(2), torch.ones(2))
        torch.ones(2, 2).addr_(torch.ones(2), torch.ones(2), alpha=True)
        torch.ones(2, 2).addr(torch.ones(2), torch.ones(2), beta=True)""",
    "negative factors of bytes": """
        t0 = torch.tensor([2, 3], dtype=torch.uint8)
        t1 = torch.ones((2, 2), dtype=torch.uint8)
        t2 = torch.addr(t1, t0, t0, alpha=-1)
        t3 = torch.addmm(t1, t1, t1, beta=-1)
        t4 = torch.addmv(t0, t1, t0, alpha=-1)
        t5 = torch.baddbmm(t1[None], t1[None], t1[None], beta=-1)
        t6 = t0.index_add(0, torch.tensor([0]), t0[:1], alpha=-1)
        torch.addmm(t1, t1, t1, beta=300)
        torch.add(t0, t0, alpha=300)
        torch.sub(t0, t0, alpha=-300)
        t0.clamp(-1, 300)
        t7 = t0.clamp(-1)
        torch.fmod(torch.arange(4), torch.tensor([0, 1, 1]))
        torch.remainder(torch.arange(4), torch.tensor([0, 1, 1]))""",
    "types and dimensions that are refused": """
        torch.ones(2).cumsum_(0, dtype=torch.float64)
        torch.ones(2).cumprod_(0, dtype=torch.int32)
        torch.ones(2).cumsum(0, dtype=torch.bool)
        torch.ones(2).cumprod(0, dtype=torch.bool)
        torch.ones(2).logical_and_(2)
        torch.ones(2).logical_xor_(True)
        torch.ones(2).index_fill(0, torch.tensor([0], dtype=torch.int32), 1)
        torch.ones(2).index_copy(0, torch.tensor([0], dtype=torch.int32), torch.ones(1))
        torch.ones(2).index_copy(0, torch.tensor([0]), torch.ones(1).double())
        torch.index_select(torch.tensor(1.), 0, torch.tensor([0, 0]))
        torch.tensor(1.).take_along_dim(torch.tensor(0), 0)
        torch.median(torch.ones(2), out=torch.ones(()))
        torch.std(torch.ones(2), False, out=torch.ones(()))""",
}
