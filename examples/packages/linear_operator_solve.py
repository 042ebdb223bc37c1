"""linear_operator: structured matrices that solve, multiply and differentiate without being written out."""

import torch
from linear_operator.operators import (
    DiagLinearOperator,
    KroneckerProductLinearOperator,
    LowRankRootLinearOperator,
    ToeplitzLinearOperator,
    to_linear_operator,
)

torch.manual_seed(0)
diagonal = DiagLinearOperator(torch.rand(5) + 0.5)
root = torch.randn(5, 2, requires_grad=True)
low_rank = LowRankRootLinearOperator(root)
matrix = low_rank + diagonal
b = torch.randn(5)
print(type(matrix).__name__, matrix.shape)
solution = torch.linalg.solve(matrix, b)
print("solve:", [round(v, 4) for v in solution.tolist()])
print("residual small:", bool((matrix @ solution - b).abs().max() < 1e-4))
print("logdet:", round(torch.logdet(matrix).item(), 4), "diagonal sum:", round(torch.diagonal(matrix).sum().item(), 4))
inverse_quadratic, logdet = matrix.inv_quad_logdet(b.unsqueeze(-1), logdet=True)
(inverse_quadratic + logdet).backward()
print("gradient:", [round(v, 4) for v in root.grad.flatten().tolist()[:4]])
first, second = torch.randn(3, 3), torch.randn(2, 2)
left, right = (to_linear_operator(m @ m.T + torch.eye(len(m))) for m in (first, second))
product = KroneckerProductLinearOperator(left, right)
print("Kronecker:", product.shape, [round(v, 3) for v in product.matmul(torch.ones(6)).tolist()])
print("eigenvalues:", [round(v, 3) for v in torch.linalg.eigvalsh(product.to_dense()).tolist()])
toeplitz = ToeplitzLinearOperator(torch.tensor([4.0, 1.0, 0.5, 0.1]))
print("Toeplitz:", [round(v, 4) for v in toeplitz.matmul(torch.arange(4.0)).tolist()])
print("Cholesky:", round(toeplitz.cholesky().to_dense().sum().item(), 4))
