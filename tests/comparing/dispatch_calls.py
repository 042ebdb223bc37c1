"""Calls that a dispatch mode sees: the operators that arrive are PyTorch's, with the shapes of their tensors.

`CALLS` is compared with PyTorch, forward and backward. `DIFFERENT` names the calls for which other operators arrive,
and why. It is the one list of these differences.
"""

from pathlib import Path

# The calls stand in a text of their own. They use these tensors: x, y and p of shape (4, 5), b of (2, 4, 5), w of
# (3, 5), v of (3,), the images im with the weight k, the symmetric matrix s, and the indices i, j and c.
CALLS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()

REASONS = {
    "check": "LAPACK's status is checked by the kernel here, and by an operator in PyTorch",
    "formula": "the rule writes the gradient in another formula",
    "memory": "PyTorch takes memory, or lifts or saves a value, where nothing is needed here",
    "overload": "a number or a flag chooses another overload of the same computation",
    "own": "an operator of retrograd computes the gradient, which PyTorch composes of several",
    "whole": "one operator here is several in PyTorch, or the other way round",
}
DIFFERENT = {
    "x.clamp(-1, 1)": "overload",
    "x.cumprod(0)": "own",
    "x.diag()": "whole",
    "x.as_strided((2, 2), (1, 2))": "own",
    "torch.index_put(x, (i,), torch.zeros(2, 5))": "own",
    "F.prelu(x, v[:1])": "formula",
    "F.cross_entropy(x, c, label_smoothing=0.1)": "formula",
    "F.binary_cross_entropy_with_logits(x, y.sigmoid().detach())": "formula",
    "F.kl_div(x, y)": "formula",
    "F.cosine_similarity(x, y)": "formula",
    "F.group_norm(im, 3)": "memory",
    "F.batch_norm(im, torch.zeros(3), torch.ones(3), training=True)": "memory",
    "F.batch_norm(im, torch.zeros(3), torch.ones(3), training=False)": "memory",
    "F.instance_norm(im)": "memory",
    "F.rms_norm(x, (5,))": "formula",
    "F.one_hot(c)": "whole",
    "F.scaled_dot_product_attention(b, b, b)": "overload",
    "F.dropout(x, 0.5)": "overload",
    "x.isfinite()": "whole",
    "torch.isclose(x, y)": "whole",
    "x.bernoulli(0.5)": "overload",
    "torch.linalg.inv(s)": "check",
    "torch.linalg.det(s)": "whole",
    "torch.linalg.solve(s, s)": "own",
    "torch.linalg.cholesky(s)": "check",
    "torch.linalg.qr(s)": "formula",
    "torch.linalg.svd(s)": "own",
    "torch.linalg.eigh(s)": "own",
    "torch.fft.fft(x)": "whole",
    "torch.nn.utils.clip_grad_norm_([x], 1.0)": "memory",
    "torch.cdist(x, y)": "whole",
    "torch.nan_to_num(x)": "whole",
    "torch.bucketize(x, torch.tensor([0.0, 1.0]))": "overload",
    "torch.tril_indices(3, 3)": "memory",
    "c << 1": "overload",
    "x.var((0, 1))": "overload",
    "x.norm(dim=(0, 1))": "overload",
}
