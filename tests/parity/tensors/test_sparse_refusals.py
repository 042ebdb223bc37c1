"""What is refused of sparse tensors: PyTorch's type and message."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from comparing.same_text import same

# Separated by a bar. A semicolon separates the statements of a program.
_CALLS = """
    x=torch.eye(3).to_sparse() ;; x.numpy() | x=torch.eye(3).to_sparse() ;; x.reshape(9) |
    x=torch.eye(3).to_sparse() ;; x.tolist() | x=torch.eye(3).to_sparse() ;; x.untyped_storage() |
    x=torch.eye(3).to_sparse() ;; x.data_ptr() | x=torch.eye(3).to_sparse_csr() ;; x.stride() |
    x=torch.eye(3).to_sparse_csr() ;; x.is_contiguous() | x=torch.eye(3).to_sparse_csr() ;; x.untyped_storage() |
    x=torch.eye(3).to_sparse_csr() ;; x.indices() | x=torch.eye(3).to_sparse_csr() ;; torch.sum(x,0) |
    x=torch.eye(3).to_sparse_csr() ;; x.reshape(9) | x=torch.eye(3).to_sparse_csr() ;; x.flatten() |
    x=torch.eye(3).to_sparse_csr() ;; x.expand(2,3,3) | x=torch.eye(3).to_sparse() ;; x.expand(2,3,3) |
    x=torch.eye(3).to_sparse() ;; torch.div(x,x) | x=torch.eye(3).to_sparse() ;; torch.div(x,c(3,3)) |
    x=torch.eye(3).to_sparse() ;; x/c(3) | x=torch.eye(3).to_sparse() ;; x/x |
    x=torch.eye(3).to_sparse() ;; x.div_(c(3)) | x=torch.eye(3).to_sparse() ;; torch.mv(x,c(2)) |
    x=torch.eye(3).to_sparse() ;; torch.mm(x,c(2,2)) |
    x=torch.stack([torch.eye(3)]*2).to_sparse() ;; torch.bmm(x,c(2,2,2)) |
    x=torch.stack([torch.eye(3)]*2).to_sparse() ;; torch.bmm(x,c(1,3,2)) |
    x=torch.stack([torch.eye(3)]*2).to_sparse() ;; torch.bmm(x,c(3,2)) | x=torch.eye(3).to_sparse(1) ;; x.t() |
    x=torch.eye(3).to_sparse(1) ;; x.permute(1,0) | x=torch.eye(3).to_sparse(1) ;; x.T |
    x=torch.ones(2,2,2).to_sparse() ;; x.t() | x=torch.ones(2,2,2).to_sparse(2) ;; x.permute(0,2,1) |
    x=torch.eye(3).to_sparse() ;; x.permute(0) | x=torch.eye(3).to_sparse() ;; torch.pow(x,0) |
    x=torch.eye(3).to_sparse() ;; x**0 | x=torch.eye(3).to_sparse() ;; torch.add(x,c(3),alpha=2) |
    x=torch.eye(3).to_sparse() ;; x+1 | x=torch.eye(3).to_sparse() ;; x*c(2) |
    x=torch.eye(3).to_sparse() ;; x+torch.eye(2).to_sparse() | x=torch.eye(3).to_sparse() ;; x.copy_(c(3,3)) |
    x=torch.eye(3).to_sparse() ;; c(3,3).copy_(x) | x=torch.eye(3).to_sparse() ;; x.sparse_resize_((3,3,3),3,0) |
    x=torch.eye(3).to_sparse() ;; x.sparse_resize_((3,3,3),2,1) |
    x=torch.eye(3).to_sparse() ;; x.sparse_resize_((2,2),2,0) |
    x=torch.eye(3).to_sparse().requires_grad_() ;; x.sparse_resize_((4,4),2,0) |
    x=torch.eye(3).to_sparse() ;; torch.cat([x,c(3,3)]) | x=torch.eye(3).to_sparse() ;; torch.stack([x,c(3,3)]) |
    torch.sparse_compressed_tensor([0,1],[0],[1.],(1,1),layout=torch.sparse_coo) |
    torch.sparse_compressed_tensor([0,1],[0],[1.],(1,1)) | torch.zeros(2,layout=1) | torch.zeros(2,layout='a') |
    torch.ones(2,2,layout=torch.sparse_coo) | torch.sparse_coo_tensor([[0,1]],[1.],(2,)) |
    torch.sparse_coo_tensor([[0]],[1.],(2,2)) | torch.sparse_coo_tensor('a',[1.],(2,2)) |
    torch.eye(3).to_sparse(blocksize=(1,1)) | torch.eye(3).to_sparse().to_sparse(blocksize=(1,1)) |
    torch.eye(3).to_sparse(layout=torch.sparse_csr,blocksize=(1,1)) |
    torch.eye(3).to_sparse(layout=torch.sparse_bsr) | torch.eye(3).to_sparse(5) | torch.eye(3).to_sparse_bsr((2,2)) |
    torch.eye(3).to_sparse_bsr((1,)) | torch.ones(2,3,3).to_sparse().to_sparse_csr() |
    torch.ones(2,3,3).to_sparse().to_sparse_csc() | torch.ones(2,3,3).to_sparse().to_sparse_bsr((1,1)) |
    torch.ones(3).to_sparse_bsr((1,1)) | torch.eye(3).to_sparse().to_dense(dtype=torch.int64).dtype |
    torch.sparse.mm(torch.eye(3).to_sparse(),c(2,2)) | torch.sparse.sum(torch.eye(3)) |
    torch.sparse.sum(torch.eye(3).to_sparse(),5) | torch.norm(torch.eye(3).to_sparse(),dim=0) |
    torch.eye(3).to_sparse().norm(2,0) | torch.eye(3).to_sparse().new('a') | x=torch.eye(3).to_sparse() ;; x[0]=1 |
    x=torch.eye(3).to_sparse() ;; x.index_select(0,torch.tensor([9])) |
    x=torch.sparse_coo_tensor([[0,0]],[1.,1.],(2,)) ;; x.indices() |
    x=torch.sparse_coo_tensor([[0,0]],[1.,1.],(2,)) ;; x.values() | torch.eye(3).indices() | torch.eye(3).values() |
    torch.eye(3).coalesce() | torch.eye(3).crow_indices() | torch.eye(3).is_coalesced() |
    torch.eye(3).sparse_mask(torch.eye(2).to_sparse()) | bool(torch.eye(3).to_sparse()) |
    torch.eye(3).to_sparse().item() | torch.eye(3).to_sparse().repeat(2,2) |
    torch.eye(3).to_sparse().share_memory_() | torch.eye(3).to_sparse().pin_memory() |
    torch.addmm(c(3,3),torch.eye(3).to_sparse_bsr((1,1)),torch.eye(3).to_sparse_bsr((1,1))) |
    torch.eye(3).to_sparse_csr().transpose(0,5) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(),c(3,2),c(2,2)) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(),c(2,2),c(2,3)) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(),c(3,2),c(3,3)) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(),c(3),c(3,3)) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(),c(3,3),c(1,3,3)) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(),torch.eye(3).to_sparse(),c(3,3)) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(),c(3,3).double(),c(3,3)) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csr(),c(3,3).double(),c(3,3).double()) |
    torch.sparse.sampled_addmm(torch.eye(3).to_sparse_csc(),c(3,3),c(3,3)) |
    torch.sparse.sampled_addmm(torch.eye(3).half().to_sparse_csr(),c(3,3).half(),c(3,3).half()) |
    torch.sparse.sampled_addmm(c(2,2,2).to_sparse_csr(),c(2,2,2),c(2,2,2)).shape |
    torch.eye(3).to_sparse().narrow_copy(0,2,2) | torch.eye(3).to_sparse().narrow_copy(0,-1,1) |
    torch.eye(3).to_sparse().sum().to_sparse().narrow_copy(0,0,1) |
    torch.cat([torch.eye(3).to_sparse(),torch.eye(3).to_sparse(1)]) |
    torch.cat([torch.eye(3).to_sparse(),torch.eye(2).to_sparse()]) | torch.ones(3).to_sparse().adjoint() |
    torch.sparse.softmax(torch.tensor(1.).to_sparse(),0) | torch.sparse.softmax(torch.tensor(1).to_sparse(),0) |
    torch.sparse_coo_tensor(3).shape | torch.sparse_coo_tensor(0,[1,2]) |
    torch.einsum('ij,jk',torch.eye(3).to_sparse(),c(3,3))
"""


@pytest.mark.parametrize("call", [call.strip() for call in _CALLS.replace("\n", " ").split(" | ")])
def test_a_refused_call_has_pytorchs_message(call: str) -> None:
    def case(torch: Any) -> Any:
        space = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "c": torch.ones, "np": np, "io": io}
        *before, last = call.split(" ;; ")
        for line in before:
            exec(line, space)
        return exec(last, space) if "=" in last.partition("(")[0] else eval(last, space)

    same(case)
