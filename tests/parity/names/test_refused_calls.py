"""Calls of all kinds that are refused: PyTorch's type and message."""

from __future__ import annotations

import io
import os
import pickle
from typing import Any

import numpy as np
import pytest

from comparing.same_text import same

# Separated by a bar. A semicolon separates the statements of a program.
_CALLS = """
    torch.save({},io.StringIO()) | torch.save({},5) | torch.load(5) | torch.load(io.StringIO('abc')) |
    torch.load(io.BytesIO(b'')) | f=io.BytesIO() ;; torch.save(c(2),f) ;; torch.load(f) |
    f=io.BytesIO() ;; torch.save(c(2),f) ;; f.seek(0) ;; torch.load(f,map_location=5) |
    f=io.BytesIO() ;; torch.save(c(2),f) ;; f.seek(0) ;; torch.load(f,map_location='cuda') |
    f=io.BytesIO() ;; torch.save(c(2),f) ;; f.seek(0) ;; torch.load(f,map_location='wrong') |
    f=io.BytesIO() ;; torch.save(c(2),f) ;; f.seek(0) ;; torch.load(f,map_location={'cpu':'wrong'}) |
    f=io.BytesIO() ;; torch.save(c(2),f) ;; b=f.getvalue() ;; torch.load(io.BytesIO(b[:200])) |
    torch.serialization.validate_cuda_device('cuda') | torch.serialization.validate_hpu_device('hpu') |
    torch.serialization.default_restore_location(c(2).untyped_storage(),'wrong') | torch.finfo(torch.int64) |
    torch.iinfo(torch.float32) | torch.finfo(5) | torch.iinfo() | torch.iinfo(torch.bool) |
    torch.iinfo(torch.complex64) | torch.finfo(torch.bool) | torch.futures.Future().value() |
    torch.view_as_complex(c(2).to(torch.bfloat16)) | torch.polar(c(2).half(),c(2).half()) | torch.randint(1.5,(2,)) |
    torch.randint('a',(2,)) | torch.randint(0) | torch.randint(5,2) | torch.randint(0,0,(2,)) | torch.randperm('a') |
    torch.randperm(1.5) | c(2).random_('a') | c(2).random_(1.5) | c(2).random_(0) | c(2).random_(5,2) |
    torch.normal('a') | torch.normal() | torch.normal(1.,2.) | torch.normal(c(2),c(3)) | torch.normal(1.,'a',(2,)) |
    torch.full('a',1) | torch.full(2,1) | torch.full((2,),'a') | torch.full((2,),[1]) | torch.eye('a') |
    torch.eye(-1) | torch.arange() | torch.arange('a') | torch.range(1) | torch.linspace(0,1,5,dtype=torch.bool) |
    torch.hann_window('a') | torch.hann_window(-1) | torch.hann_window(5,dtype=torch.int64) | torch.hann_window() |
    torch.kaiser_window(5,beta='a') | torch.gradient(c(3,3),spacing=[1.,2.,3.]) |
    torch.gradient(c(3,3),spacing=['a']) | torch.gradient(c(3,3),spacing=[c(3),1]) | torch.max(c(2),keepdim=True) |
    torch.min(c(2,2),keepdim=True) | torch.max(c(2,2),(0,1)) | torch.max(c(2,2),dim=(0,1)) | torch.mode(c(2),'a') |
    torch.kthvalue(c(2)) | torch.prod(c(2),keepdim=True) | torch.sum(c(2),0,'a') | torch.sum(c(2),0,1) |
    torch.sum(c(2),keepdim='a') | torch.tensordot(c(2),c(2),dims=[[0],[0,1]]) | torch.poisson(-c(2)) |
    torch.poisson(c(2)*float('nan')) | torch.split(c(2),-1) | torch.split(c(2),[3]) | torch.split(c(2),[-1,3]) |
    torch.tensor_split(c(2),-1) | torch.tensor_split(torch.tensor(1.),2) | c(2).view() | c(2).view('a') |
    c(2).expand() | c(2).resize_() | c(2)[1.5] | c(2)[{}] | c(2)[c(2)] | x=c(2) ;; x[0]='a' |
    x=c(2) ;; x[0]=np.array('a') | x=c(2) ;; x[0]=None | c(2).to('a') | c(2).to(5) | c(2).to([]) | c(2).type('a') |
    c(2).new('a') | c(2).new(1.5) | c(2).new(c(2).double()) | torch.FloatTensor(c(2).double()) |
    torch.FloatTensor('a') | c(2).untyped_storage()[9] | torch.utils.swap_tensors(c(2),5) | c(2).add_(1j) |
    c(2).fill_(1j) | c(2).int().fill_(1j) | int(torch.tensor(1+1j)) | torch.full((2,),1j,dtype=torch.float32) |
    c(2)*'a' | 'a'*c(2) | c(2)+'a' | torch.add(c(2),'a') | torch.add('a',c(2)) | torch.mul(c(2),[1]) | c(2)+None |
    c(2)+[1,2] | torch.from_numpy(5) | torch.from_numpy(np.array(['a'])) | torch.as_tensor('a') | torch.tensor('a') |
    torch.tensor([['a']]) | torch.tensor([None]) | torch.tensor(None) | torch.tensor([1,[2]]) |
    torch.tensor([[1],[2,3]]) | torch.tensor({}) | torch.tensor(10**30) | torch.tensor(300,dtype=torch.uint8) |
    torch.tensor(1j,dtype=torch.float32) | torch.stft(c(8),'a') | torch.meshgrid(c(2),indexing='a') |
    torch.meshgrid(c(2),indexing=5) | torch.linalg.norm(c(2),dtype=torch.int64) |
    torch.linalg.vector_norm(c(2),dtype=torch.complex64) |
    torch.linalg.vector_norm(c(2).to(torch.complex64),dtype=torch.float32) |
    torch._weight_norm(c(2,2),c(2,1).double()) | torch.linalg.solve(c(2,2),c(3,2)) |
    torch.linalg.solve(c(2,2),c(3,2),left=False) | torch.linalg.solve(c(2,2),c(3)) | c(2).mT | c(2).mH |
    c(2).adjoint() | c(2).as_strided((2,),(1,1)) | c(2).as_strided('a',(1,)) | c(2).permute(0,1) | c(2).permute('a') |
    c(2,2,2).t_() | c(2,2,2).t() | c(2).expand(1) | c(2,2).expand(2) | torch.broadcast_to(c(2),()) |
    torch.from_file('nofile',size=3) | torch.from_file(5,size=3) | u=nn.UninitializedParameter() ;; u.numel() |
    u=nn.UninitializedParameter() ;; torch.add(u,u) | u=nn.UninitializedParameter() ;; u+u |
    u=nn.UninitializedParameter() ;; u[0] | u=nn.UninitializedParameter() ;; len(u) |
    u=nn.UninitializedParameter() ;; F.relu(u) | u=nn.UninitializedParameter() ;; F.linear(u,u) |
    u=nn.UninitializedParameter() ;; u.norm() | u=nn.UninitializedParameter() ;; u.sum() |
    u=nn.UninitializedParameter() ;; u.backward() | u=nn.UninitializedParameter() ;; 2-u |
    u=nn.UninitializedParameter() ;; u.view(2) | u=nn.UninitializedParameter() ;; torch.cat([u,u]) |
    u=nn.UninitializedParameter() ;; torch.einsum('i->i',u) | u=nn.UninitializedBuffer() ;; u.numel() |
    u=nn.UninitializedParameter() ;; u.numpy() | u=nn.UninitializedParameter() ;; u==u |
    u=nn.UninitializedParameter() ;; F.conv2d(u,u) | u=nn.UninitializedParameter() ;; -u |
    u=nn.UninitializedParameter() ;; u.tolist()
"""


@pytest.mark.parametrize("call", [call.strip() for call in _CALLS.replace("\n", " ").split(" | ")])
def test_a_refused_call_has_pytorchs_message(call: str) -> None:
    def case(torch: Any) -> Any:
        space = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "c": torch.ones, "np": np, "io": io,
                 "pickle": pickle, "os": os}
        *before, last = call.split(" ;; ")
        for line in before:
            exec(line, space)
        return exec(last, space) if "=" in last.partition("(")[0] else eval(last, space)

    same(case)
