"""What is refused of meta tensors, alone and beside tensors with memory: PyTorch's type and message."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from comparing.same_text import same

# Separated by a bar. A semicolon separates the statements of a program.
_CALLS = """
    c(2)+m(2) | m(2)+c(2) | c(2)+m(()) | torch.maximum(c(2),m(2)) | torch.where(c(2)>0,m(2),m(2)) |
    torch.cat([c(2),m(2)]) | torch.cat([m(2),c(2)]) | torch.stack([c(2),m(2)]) | torch.addcmul(c(2),m(2),c(2)) |
    torch.lerp(c(2),m(2),0.5) | m(1).item() | m(2).item() | int(m(1)) | float(m(1)) | bool(m(1)) | bool(m(2)) |
    if_ = 1 if m(1) else 2 | m(2).tolist() | m(2).numpy() | np.asarray(m(2)) | m(2).cpu() | m(2).to('cpu') |
    m(2).to(c(2)) | m(2).type_as(c(2)) | c(2).copy_(m(2)) | m(2).nonzero() | m(2).argwhere() | torch.where(m(2)) |
    m(2)[m(2)>0] | c(2)[m(2)>0] | c(2)[m(()).long()] | x=c(2) ;; x[0]=m(()) | x=c(2) ;; x[:]=m(2) |
    torch.equal(m(2),m(2)) | torch.equal(c(2),m(2)) | torch.equal(m(2),c(2)) | torch.allclose(m(2),m(2)) |
    torch.allclose(c(2),m(2)) | torch.unique(m(2)) | torch.unique_consecutive(m(2)) | torch.bincount(m(2).long()) |
    torch.masked_select(m(2),m(2)>0) | torch.masked_select(c(2),m(2)>0) | F.one_hot(m(2).long()) |
    torch.repeat_interleave(m(2),m(2).long()) | torch.repeat_interleave(m(2).long()) |
    torch.repeat_interleave(c(2),m(2).long()) | F.linear(c(1,2),m(3,2),m(3)) | F.linear(m(1,2),c(3,2),c(3)) |
    F.linear(c(1,2),c(3,2),m(3)) | F.linear(m(2,2,2),c(3,2),c(3)) | F.linear(c(2,2,2),m(3,2),m(3)) |
    F.linear(c(2),m(2)) | F.linear(m(2),c(2)) | nn.Linear(2,3,device='meta')(c(1,2)) |
    nn.Linear(2,3,device='meta')(c(2)) | nn.Linear(2,3,device='meta')(c(4,1,2)) | nn.Linear(2,3)(m(1,2)) |
    torch.addmm(c(2,2),m(2,2),m(2,2)) | torch.addmm(m(2,2),c(2,2),m(2,2)) | torch.addmm(m(2),c(2,2),c(2,2)) |
    c(2)@m(2) | m(2)@c(2) | c(2,2)@m(2) | m(2,2)@c(2) | c(3,2,2)@m(2) | torch.mv(c(2,2),m(2)) |
    torch.mv(m(2,2),c(2)) | torch.dot(c(2),m(2)) | torch.dot(m(2),c(2)) | torch.addmv(c(2),m(2,2),m(2)) |
    torch.addmv(m(2),c(2,2),m(2)) | torch.addmv(m(2),m(2,2),c(2)) | torch.addr(c(2,2),m(2),m(2)) |
    torch.outer(c(2),m(2)) | torch.ger(c(2),m(2)) | F.cross_entropy(c(1,2),m(1).long()) |
    F.cross_entropy(m(1,2),c(1).long()) | F.cross_entropy(c(1,2),m(1,2)) | F.nll_loss(c(1,2),m(1).long()) |
    F.nll_loss(m(1,2),c(1).long()) | F.cross_entropy(c(1,2),c(1).long(),m(2)) | F.nll_loss(c(1,2,3),m(1,3).long()) |
    F.nll_loss(c(1,2,3,3),m(1,3,3).long()) | F.mse_loss(c(2),m(2)) | F.l1_loss(c(2),m(2)) |
    F.smooth_l1_loss(c(2),m(2)) | F.huber_loss(c(2),m(2)) | F.binary_cross_entropy(c(2),m(2)) |
    F.binary_cross_entropy(m(2),c(2)) | F.binary_cross_entropy_with_logits(c(2),m(2)) |
    F.gaussian_nll_loss(c(2),m(2),c(2)) | F.margin_ranking_loss(c(2),m(2),c(2)) | F.cosine_similarity(c(2),m(2),0) |
    F.multi_margin_loss(c(1,2),m(1).long()) | F.layer_norm(c(1,2),(2,),m(2)) | F.layer_norm(c(1,2),(2,),m(2),m(2)) |
    F.layer_norm(m(1,2),(2,),c(2),c(2)) | nn.LayerNorm(2,device='meta')(c(1,2)) | nn.LayerNorm(2)(m(1,2)) |
    F.rms_norm(c(1,2),(2,),m(2)) | F.group_norm(c(1,2),1,m(2),m(2)) | F.group_norm(m(1,2),1,c(2),c(2)) |
    nn.GroupNorm(1,2,device='meta')(c(1,2)) | F.batch_norm(c(3,2),m(2),m(2)) |
    F.batch_norm(c(3,2),None,None,m(2),m(2),training=True) | F.batch_norm(m(3,2),None,None,c(2),c(2),training=True) |
    nn.BatchNorm1d(2,device='meta')(c(1,2)) | nn.BatchNorm1d(2,device='meta')(c(3,2)) |
    nn.BatchNorm1d(2,device='meta').eval()(c(3,2)) | nn.BatchNorm1d(2)(m(3,2)) |
    nn.BatchNorm2d(2,device='meta')(c(3,2,2,2)) | nn.InstanceNorm2d(2,device='meta',affine=True)(c(3,2,2,2)) |
    nn.PReLU(device='meta')(c(2)) | nn.PReLU(2,device='meta')(c(2,2)) | nn.GRU(2,3,device='meta')(c(4,1,2)) |
    nn.LSTM(2,3,device='meta')(c(4,1,2)) | nn.RNN(2,3,device='meta')(c(4,1,2)) | nn.GRU(2,3)(m(4,1,2)) |
    nn.LSTM(2,3)(m(4,1,2)) | nn.RNN(2,3)(m(4,1,2)) | nn.GRU(2,3)(c(4,1,2),m(1,1,3)) |
    nn.LSTM(2,3)(c(4,1,2),(m(1,1,3),c(1,1,3))) | nn.LSTM(2,3)(c(4,1,2),(m(1,1,3),m(1,1,3))) |
    nn.GRU(2,3,device='meta')(c(4,1,2),c(1,1,3)) | nn.GRU(2,3,device='meta')(m(4,1,2),c(1,1,3)) |
    nn.GRUCell(2,3,device='meta')(c(1,2)) | nn.LSTMCell(2,3,device='meta')(c(1,2)) |
    nn.RNNCell(2,3,device='meta')(c(1,2)) | nn.GRUCell(2,3)(m(1,2)) | nn.LSTMCell(2,3)(m(1,2)) |
    nn.RNNCell(2,3)(m(1,2)) | nn.GRU(2,3,device='meta',batch_first=True)(c(4,1,2)) |
    nn.MultiheadAttention(2,1,device='meta')(c(4,1,2),c(4,1,2),c(4,1,2)) |
    nn.MultiheadAttention(2,1)(m(4,1,2),m(4,1,2),m(4,1,2)) |
    nn.TransformerEncoderLayer(2,1,4,device='meta')(c(4,1,2)) | nn.Bilinear(2,2,3,device='meta')(c(1,2),c(1,2)) |
    F.scaled_dot_product_attention(c(1,2,2),m(1,2,2),m(1,2,2)) | x=c(2) ;; x.data=m(2) | x=m(2) ;; x.data=c(2) |
    x=c(2) ;; x.grad=m(2) | x=m(2) ;; x.grad=c(2) | m(2).share_memory_() | m(2).pin_memory() |
    m(2).untyped_storage()[0] | torch.as_tensor(m(2),device='cpu') | torch.arange(m(())) |
    torch.add(c(2),c(2),out=m(2)) | torch.add(m(2),m(2),out=c(2)) | torch.mm(c(2,2),c(2,2),out=m(2,2)) |
    c(2).clamp_(m(2)) | torch.clamp(c(2),m(2)) | torch.index_add(c(2),0,m(2).long(),c(2)) |
    torch.index_add(c(2),0,c(2).long()-1,m(2)) | torch.index_copy(c(2),0,m(2).long(),c(2)) |
    torch.masked_fill(c(2),m(2)>0,1) | torch.masked_fill(c(2),c(2)>0,m(())) |
    torch.take_along_dim(c(2),m(2).long(),0) | torch.dist(c(2),m(2)) | torch.kron(c(2),m(2)) |
    torch.cartesian_prod(c(2),m(2)) | torch.meshgrid(c(2),m(2),indexing='ij') | c(2).is_set_to(m(2)) |
    m(2).backward() | x=c(2).requires_grad_() ;; (x*2).backward(m(2)) |
    x=m(2).requires_grad_() ;; (x*2).backward(c(2)) | torch.atan2(c(2),m(2)) | torch.logical_and(c(2),m(2)) |
    torch.normal(c(2),m(2)) | torch.complex(c(2),m(2)) | torch.polar(c(2),m(2)) |
    torch.nn.utils.rnn.pad_sequence([c(2),m(2)]) | torch.quantile(c(3),m(())) | m(2).to_sparse() |
    torch.combinations(m(3)) | torch.tensor([m(1)]) | range(m(1).long()) | [1,2][m(()).long()] | '%d' % m(()) |
    f'{m(()):.2f}' | 1.0 in m(2) | m(2).data.cpu() | m(2).to(torch.float64).cpu() |
    nn.Linear(2,2,device='meta').to('cpu') | nn.Linear(2,2,device='meta').cpu() |
    nn.Linear(2,2).load_state_dict(nn.Linear(2,2,device='meta').state_dict()) | torch.isclose(m(2),c(2)) |
    torch.trapezoid(c(2),m(2)) | torch.tensor_split(c(2),m(1).long()) | torch.bmm(m(1,2,3),m(1,2,2)) |
    torch.bmm(m(2,2,2),m(1,2,2)) | torch.baddbmm(m(1,2,2),m(1,2,3),m(1,2,2)) |
    torch.baddbmm(m(5,2,2),m(1,2,2),m(1,2,2)) | m(4,2,3)@m(4,2,2) | torch.bmm(m(2,2),m(2,2,2)) |
    nn.Conv2d(2,3,2,device='meta')(m(5,4)) | nn.GRU(2,3,device='meta')(m(4,1,5)) |
    nn.GRU(2,3,device='meta')(c(4,1,5)) | nn.GRU(2,3,device='meta')(c(4,1,2),m(1,1,3)) |
    nn.Linear(2,3,device='meta')(c(1,2).double()) | nn.BatchNorm1d(2,device='meta')(m(1,2)) | F.prelu(m(2),c(1)) |
    F.prelu(c(2),m(1)) | F.nll_loss(c(1,2),c(1).long(),m(2)) | F.nll_loss(c(1,2),m(1).long(),m(2)) |
    F.nll_loss(m(1,2),c(1).long(),m(2)) | F.cross_entropy(m(1,2),m(1).long(),c(2)) |
    torch.masked_fill(m(2),c(2)>0,1) | torch.normal(m(2),c(2)) | torch.equal(c(2),m(3)) |
    torch.meshgrid(m(2),c(2),indexing='ij') | torch.cartesian_prod(m(2),c(2)) |
    torch.index_add(m(2),0,c(2).long(),c(2)) | torch.index_copy(m(2),0,c(2).long(),c(2)) |
    torch.index_fill(c(2),0,m(2).long(),1) | torch.index_fill(m(2),0,c(2).long(),1) |
    torch.take_along_dim(m(2),c(2).long(),0) | torch.quantile(m(3),c(2)*0.5) |
    F.scaled_dot_product_attention(m(1,2,2),c(1,2,2),c(1,2,2)) |
    F.scaled_dot_product_attention(c(1,2,2),c(1,2,2),m(1,2,2)) | torch.add(c(2),m(2),out=c(2)) |
    torch.mm(m(2,2),m(2,2),out=c(2,2)) | torch.exp(m(2),out=c(2)) | torch.cat([m(2),m(2)],out=c(4)) |
    c(2).exp_().copy_(m(3)) | m(2).copy_(c(3)) | x=c(2) ;; x[0:1]=m(1) | c(2)[m(()).bool()] | c(2)[m(()).long():] |
    [5,6][m(1).long()] | torch.where(m(2)>0,c(2),c(2)) | torch.where(c(2)>0,c(2),m(2)) |
    torch.where(c(2)>0,m(2),c(2)) | torch.unique(m(2),dim=0) | torch.unique_consecutive(m(2),dim=0) |
    torch.histogram(m(2),3) | torch.bincount(c(2).long(),m(2)) | torch.bincount(m(2).long(),c(2)) |
    m(2).to_sparse_csr() | m(2,2).to_sparse() | m(2).__contains__(1) | torch.is_nonzero(m(1)) |
    torch.is_nonzero(m(2)) | format(m(()),'d') | f'{m(2):>3}' | nn.Linear(2,2,device='meta').cpu().weight |
    nn.Linear(2,2,device='meta').to(torch.device('cpu')) | nn.Linear(2,2,device='meta').share_memory() |
    x=c(2).requires_grad_() ;; torch.autograd.grad(x*2,x,m(2)) | m(2)==c(2) | m(2)!=c(2) | m(2)<c(2) | m(2)-c(2) |
    c(2)**m(2) | m(2)**c(2) | c(2)/m(2) | c(2)%m(2) | c(2).bool()&m(2).bool() | c(2).add(m(2)) |
    torch.manual_seed(m(1).long()) | torch.arange(m(()),device='cpu') | torch.zeros(m(()).long()) |
    c(2).view(m(()).long()) | c(2).sum(m(()).long()) | m(3).split(m(()).long())
"""


@pytest.mark.parametrize("call", [call.strip() for call in _CALLS.replace("\n", " ").split(" | ")])
def test_a_refused_call_has_pytorchs_message(call: str) -> None:
    def case(torch: Any) -> Any:
        space = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "c": torch.ones, "np": np, "io": io,
                 "m": lambda *sizes, **options: torch.empty(*sizes, device="meta", **options)}
        *before, last = call.split(" ;; ")
        for line in before:
            exec(line, space)
        return exec(last, space) if "=" in last.partition("(")[0] else eval(last, space)

    same(case)
