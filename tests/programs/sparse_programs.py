"""Programs with sparse tensors, for both packages: gradients, writes, modules, tables of rows, optimizers."""

from comparing.optimizers import usual_optimizers

# What each program begins with.
HEAD = """
i = torch.tensor([[0, 1, 1], [2, 0, 2]])
v = torch.tensor([3., 4, 5])
D = torch.arange(6.).reshape(2, 3)
M = torch.arange(6.).reshape(3, 2) + 1

def make(**options):
    return torch.sparse_coo_tensor(i, v, (2, 3), **options)

def show(y):
    print(y, y.layout, y.dtype, y.requires_grad)
    if y.layout == torch.sparse_coo:
        print(y.is_coalesced(), y._nnz(), y.sparse_dim(), y.dense_dim())
    if y.grad_fn is not None:
        print(y.grad_fn.name(), [n and n.name().split(":")[-1] for n, _ in y.grad_fn.next_functions])

def gradients(f, *leaves):
    for leaf in leaves:
        leaf.grad = None
    y = f(*leaves)
    show(y)
    if y.layout == torch.strided:
        (y * (torch.arange(y.numel()).reshape(y.shape) + 1.)).sum().backward()
    else:
        y.backward((torch.arange(y.numel()).reshape(y.shape) + 1.).to_sparse())
    for leaf in leaves:
        print(leaf.grad)
"""

PROGRAMS = {
    "writes are counted": """
w = torch.ones(3, 2, requires_grad=True)
for sparse in (make(), torch.ones(2, 3).to_sparse_csr()):
    product = torch.sparse.mm(sparse, w)
    sparse.mul_(2)
    print(sparse._version)
    attempt(lambda: product.sum().backward())
v.requires_grad_()
a = make() * 2
with torch.no_grad():
    a.mul_(3)
print(a._version, a.requires_grad, a.grad_fn.name())
torch.sparse.sum(a).backward()
print(v.grad)
with torch.inference_mode():
    quiet = make()
attempt(lambda: quiet.mul_(2))
""",
    "gradients of compressed values": """
c, p = torch.tensor([0, 1, 3]), torch.tensor([2, 0, 1])
for layout, size in ((torch.sparse_csr, (2, 3)), (torch.sparse_csc, (3, 2)), (torch.sparse_bsr, (2, 3)),
                     (torch.sparse_bsc, (3, 2))):
    in_blocks = layout in (torch.sparse_bsr, torch.sparse_bsc)
    for use in (lambda x: x.to_dense() * torch.arange(6.).view(size), lambda x: x.values() * 2,
                lambda x: (x * 3).to_dense(), lambda x: x @ torch.ones(size[1], 2),
                lambda x: x.to_sparse_coo().to_dense()):
        w = torch.tensor([3., 4, 5], requires_grad=True)
        def differentiate():
            x = torch.sparse_compressed_tensor(c, p, w.view(3, 1, 1) if in_blocks else w, size, layout=layout)
            print(x.grad_fn.name(), x.requires_grad)
            use(x).sum().backward()
        attempt(differentiate)
        print(w.grad)
    def differentiate_unsized():
        x = torch.sparse_compressed_tensor(c, p, w.view(3, 1, 1) if in_blocks else w, layout=layout)
        x.to_dense().sum().backward()
    attempt(differentiate_unsized)
""",
    "gradients of values": """
v.requires_grad_()
a = make()
show(a)
show(a.coalesce())
gradients(lambda v: torch.sparse.mm(make(), M), v)
gradients(lambda v: make().to_dense() ** 2, v)
gradients(lambda v: make().coalesce().values() * 3, v)
gradients(lambda v: torch.sparse.sum(make(), 0), v)
g, = torch.autograd.grad(torch.sparse.mm(make(), M).pow(2).sum(), v, create_graph=True)
print(g.detach())
""",
    "both factors": """
A, B = make().requires_grad_(), M.clone().requires_grad_()
gradients(torch.mm, A, B)
gradients(torch.sparse.mm, A, B)
gradients(lambda a, b: torch.sparse.addmm(torch.ones(2, 2), a, b, beta=2, alpha=3), A, B)
gradients(lambda a, b: a @ b[:, 0], A, B)
C = torch.tensor([[1., 0], [3, 4], [0, 0]]).to_sparse().requires_grad_()
gradients(torch.sparse.mm, make().coalesce().requires_grad_(), C)
E = D.clone().requires_grad_()
gradients(lambda a, b: a * b, A, E)
gradients(lambda a, b: b + a, A, E)
mask = make().coalesce()
gradients(lambda x: x.sparse_mask(mask), E)
gradients(lambda x: x.to_sparse(), E)
gradients(lambda x: x.to_sparse(1), E)
gradients(lambda x: x.to_sparse_csr(), E)
""",
    "accumulation": """
w = torch.eye(2).to_sparse().requires_grad_()
ones = torch.ones(2, 1)
torch.sparse.mm(w, ones).sum().backward()
torch.sparse.mm(w, ones).sum().backward()
print(w.grad)
w.to_dense(masked_grad=False).sum().backward()
print(w.grad)
torch.mm(w, ones).sum().backward()
print(w.grad)
""",
    "hooks": """
v.requires_grad_()
a = make()
a.retain_grad()
a.register_hook(lambda g: print("hook", g))
torch.sparse.mm(a, M).pow(2).sum().backward()
print(a.grad, v.grad)
a = make().detach().requires_grad_()
a.register_hook(lambda g: g * 2)
a.register_post_accumulate_grad_hook(lambda p: print("after", p.grad))
torch.sparse.mm(a, M).sum().backward()
""",
    "in place": """
a = make()
b = a.detach()
a.mul_(2)
print(a, b)
a.add_(make())
print(a, b)
a.neg_().div_(2)
print(a)
a.zero_()
print(a, a._nnz())
print(torch.ones(2, 3).add_(make(), alpha=2))
print(torch.ones(2, 3).sub_(make()))
a.copy_(make())
print(a)
w = make().requires_grad_()
attempt(lambda: w.mul_(2))
""",
    "sums": """
other = torch.sparse_coo_tensor(i[:, [2, 0, 1]], v, (2, 3))
for x, y in ((make(), other), (make().coalesce(), other.coalesce()), (make(), other.coalesce()), (make(), make())):
    show(x + y)
    show(torch.sub(x, y, alpha=2))
    show(x * y)
""",
    "copies": """
import copy, pickle
a = make(requires_grad=True)
torch.sparse.mm(a, M).sum().backward()
c = a.to_sparse_csr().detach()
for b in (copy.deepcopy(a), copy.copy(a), pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(c))):
    show(b)
print(copy.deepcopy(a).grad)
""",
    "modules": """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(2).to_sparse())
        self.register_buffer("mask", make())

    def forward(self, x):
        return torch.sparse.mm(self.weight, x)

net = Net()
print(net.state_dict(), [name for name, _ in net.named_parameters()], type(net.weight).__name__)
print(net.load_state_dict(net.state_dict()))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 1)).sum().backward()
optimizer.step()
print(net.weight)
net.zero_grad()
print(net.weight.grad)
print(net.double().mask)
""",
    "invariants": """
check = torch.sparse.check_sparse_tensor_invariants
with check():
    attempt(lambda: torch.sparse_coo_tensor([[5]], [1.], (2,)))
    print(check.is_enabled())
check.enable()
attempt(lambda: torch.sparse_csr_tensor([0, 1], [7], [1.], (1, 2)))
check.disable()
print(check.is_enabled(), torch.sparse_coo_tensor([[5]], [1.], (2,)))
""",
    "embedding": """
torch.manual_seed(0)
x = torch.tensor([1, 3, 1])
e = torch.nn.Embedding(5, 2, sparse=True)
print(e)
gradients(lambda w: e(x), e.weight)
gradients(lambda w: e(x).sum(), e.weight)
e(torch.tensor([0])).sum().backward()
print(e.weight.grad, e.weight.grad.is_coalesced())
e.weight.sum().backward()
print(e.weight.grad)
e = torch.nn.Embedding(5, 2, sparse=True, padding_idx=1)
gradients(lambda w: e(torch.tensor([[1, 3], [1, 2]])), e.weight)
print(torch.autograd.grad(e(x).pow(2).sum(), e.weight, create_graph=True))
e = torch.nn.Embedding(5, 2, sparse=True, scale_grad_by_freq=True)
attempt(lambda: e(x).sum().backward())
w = torch.randn(5, 2, requires_grad=True)
F = torch.nn.functional
gradients(lambda w: F.embedding(x, w, sparse=True).sum() + w.sum(), w)
gradients(lambda w: F.embedding(x, w, sparse=True).sum() + F.embedding(x, w, sparse=True).sum(), w)
""",
    "bags": """
torch.manual_seed(0)
x, starts = torch.tensor([1, 3, 1, 0]), torch.tensor([0, 2])
for options in ({"mode": "sum"}, {"mode": "mean"}, {"mode": "mean", "padding_idx": 1}):
    b = torch.nn.EmbeddingBag(5, 2, sparse=True, **options)
    gradients(lambda w: b(x, starts), b.weight)
b = torch.nn.EmbeddingBag(5, 2, sparse=True, mode="sum")
scales = torch.tensor([1., 2, 3, 4], requires_grad=True)
gradients(lambda w, s: b(x, starts, per_sample_weights=s), b.weight, scales)
""",
    "gather": """
a = torch.arange(12.).reshape(3, 4).requires_grad_()
index = torch.tensor([[0, 1], [2, 2], [3, 0]])
gradients(lambda a: torch.gather(a, 1, index, sparse_grad=True), a)
gradients(lambda a: a.gather(0, torch.tensor([[0, 1, 2, 0]]), sparse_grad=True), a)
""",
    "minimizing": """
e = torch.nn.Embedding(3, 2, sparse=True, _weight=torch.ones(3, 2))
optimizer = torch.optim.LBFGS(e.parameters(), max_iter=2)

def closure():
    optimizer.zero_grad()
    loss = e(torch.tensor([0, 1])).pow(2).sum()
    loss.backward()
    return loss

print(optimizer.step(closure), e.weight.data)
""",
    "graph convolution": """
torch.manual_seed(3)
n, edges = 12, torch.randint(0, 12, (2, 30))
A = torch.sparse_coo_tensor(edges, torch.ones(30), (n, n)).coalesce()
A = (A + torch.eye(n).to_sparse()).coalesce()
degree = torch.sparse.sum(A, 1).to_dense().pow(-0.5)
row, column = A.indices()
A = torch.sparse_coo_tensor(A.indices(), degree[row] * A.values() * degree[column], A.size())

class GraphConvolution(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(inputs, outputs) / inputs ** 0.5)
        self.bias = torch.nn.Parameter(torch.zeros(outputs))

    def forward(self, x, adj):
        return torch.spmm(adj, torch.mm(x, self.weight)) + self.bias

class GCN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GraphConvolution(5, 8), GraphConvolution(8, 3)

    def forward(self, x, adj):
        x = torch.nn.functional.dropout(torch.relu(self.first(x, adj)), 0.5, training=self.training)
        return torch.log_softmax(self.second(x, adj), 1)

net, x, y = GCN(), torch.randn(n, 5), torch.randint(0, 3, (n,))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05, weight_decay=5e-4)
for epoch in range(12):
    optimizer.zero_grad()
    out = net(x, A)
    loss = torch.nn.functional.nll_loss(out, y)
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}", f"{(out.argmax(1) == y).float().mean().item():.3f}")
""",
}

OPTIMIZERS = [
    ("SGD", "lr=0.1"), ("SGD", "lr=0.1, momentum=0.9"), ("SGD", "lr=0.1, momentum=0.9, dampening=0.5"),
    ("SGD", "lr=0.1, momentum=0.9, nesterov=True"), ("SGD", "lr=0.1, maximize=True"),
    ("SGD", "lr=0.1, weight_decay=0.1"), ("SGD", "lr=0.1, fused=True"), ("SGD", "lr=0.1, foreach=True"),
    ("Adagrad", "lr=0.1"), ("Adagrad", "lr=0.1, lr_decay=0.1"), ("Adagrad", "lr=0.1, maximize=True"),
    ("Adagrad", "lr=0.1, weight_decay=0.1"), ("Adagrad", "lr=0.1, fused=True"),
    ("SparseAdam", "lr=0.1"), ("SparseAdam", "lr=0.1, maximize=True, betas=(0.8, 0.9), eps=1e-4"),
    *[(name, "") for name in usual_optimizers() if name not in ("SGD", "Adagrad")],
]
TRAINED = """
torch.manual_seed(0)
e, other = torch.nn.Embedding(6, 3, sparse=True), torch.nn.Linear(3, 2)
optimizer = torch.optim.{name}([*e.parameters(), *({others})], {options})
def train():
    for step in range(3):
        optimizer.zero_grad()
        (other(e(torch.tensor([1, 3, 1, 5])))**2).sum().backward()
        optimizer.step()
attempt(train)
print(e.weight.data, other.weight.data)
state = optimizer.state_dict()["state"]
print({{k: {{n: s for n, s in part.items() if n != "step"}} for k, part in state.items()}} if state else state)
"""
