"""What random lives of a trained model (`lives`) are made of: layers, optimizers, steps, and what happens between."""

from __future__ import annotations

# The layers of the models, the optimizers, and those whose steps do not hang on the last bits of a gradient.
BLOCKS = (
    "nn.ReLU()", "nn.ReLU(inplace=True)", "nn.Tanh()", "nn.GELU()", "nn.Dropout(0.4)", "nn.BatchNorm1d(6)",
    "nn.LayerNorm(6)", "nn.BatchNorm1d(6, momentum=None)", "nn.Linear(6, 6)", "nn.Linear(6, 6, bias=False)",
    "nn.PReLU()", "nn.Identity()", "nn.BatchNorm1d(6, track_running_stats=False)", "nn.GroupNorm(2, 6)",
    "nn.Softmax(-1)", "Residual()", "Scaled()", "Counting()",
    "nn.utils.parametrizations.weight_norm(nn.Linear(6, 6))", "nn.utils.weight_norm(nn.Linear(6, 6))",
    "nn.utils.parametrizations.spectral_norm(nn.Linear(6, 6))", "Lists()", "Noise()", "Tied()", "Rows()", "Two()")
OPTIMIZERS = (
    "SGD({p}, lr=0.1)", "SGD({p}, lr=0.1, momentum=0.9)", "SGD({p}, lr=0.1, momentum=0.9, nesterov=True)",
    "Adam({p}, lr=0.01)", "AdamW({p}, lr=0.01, weight_decay=0.1)", "RMSprop({p}, lr=0.01)", "Adagrad({p}, lr=0.1)",
    "Adamax({p})", "NAdam({p})", "RAdam({p})", "Rprop({p})", "ASGD({p})", "Adadelta({p})", "Adam({p}, amsgrad=True)",
    "SGD({p}, lr=0.1, maximize=True)")
STEADY = tuple([optimizer for optimizer in OPTIMIZERS if optimizer.startswith("SGD")])
HEAD = '''
class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 6)
    def forward(self, x):
        return x + self.inner(x).tanh()

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(6))
        self.register_buffer("shift", torch.zeros(6))
        self.register_buffer("kept", torch.ones(1), persistent=False)
        self.factor = 2.0
    def forward(self, x):
        return x * self.scale * self.factor + self.shift * self.kept

class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(6))
        self.count = 0
    def forward(self, x):
        if self.training:
            self.calls += 1
            self.count += 1
            with torch.no_grad():
                self.mean.lerp_(x.mean(0).to(self.mean.dtype), 0.5)
        return x - self.mean

class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(2)])
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(6)) for _ in range(2)])
        self.named = nn.ModuleDict({"a": nn.Tanh(), "b": nn.Sigmoid()})
        self.which = "a"
    def forward(self, x):
        for layer, weight in zip(self.layers, self.weights):
            x = self.named[self.which](layer(x)) * weight
        return x

class Noise(nn.Module):
    def forward(self, x):
        return x + 0.1 * torch.randn_like(x) if self.training else x

class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)
        self.down.weight = self.up.weight
    def forward(self, x):
        return self.down(torch.sigmoid(self.up(x)))

class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 6)
    def forward(self, x):
        return x + self.table(torch.arange(x.shape[0]) % 5)

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.frozen = nn.Linear(6, 6).requires_grad_(False)
        self.free = nn.Linear(6, 6)
    def forward(self, x):
        return self.free(x) + self.frozen(x).detach() + self.frozen(x)

def parameters():
    return [p for p in model.parameters()]
def some():
    return parameters()[PICK % len(parameters())]
def module():
    return [m for m in model.modules()][PICK % len([m for m in model.modules()])]
def linear():
    found = [m for m in model.modules() if type(m) is nn.Linear]
    return found[PICK % len(found)]
seen, handles, kept = [], [], []
'''
# What is compiled.
_STEP_TEXTS = """
def step(x, y):
    return model(x)
---
def step(x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    return loss.detach()
---
def step(x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()
---
def step(x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    return loss.item()
---
def step(x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return loss.detach(), parameters()[0].grad.norm()
---
def step(x, y):
    loss = F.mse_loss(model(x), y)
    return torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad], allow_unused=True)
---
def step(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x)
    loss = F.mse_loss(out.float(), y.float())
    loss.backward()
    optimizer.step()
    return out
---
def step(x, y):
    with torch.no_grad():
        return model(x)
---
def step(x, y):
    x = x.clone().requires_grad_()
    out = model(x)
    g, = torch.autograd.grad(out.sum(), x, create_graph=True)
    loss = (g ** 2).mean() + F.mse_loss(out, y)
    loss.backward()
    return g.detach(), loss.detach()
---
def step(x, y):
    out = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
    loss = F.mse_loss(out, y)
    loss.backward()
    return loss.detach()
---
def step(x, y):
    return torch.func.functional_call(model, {n: p * 1.5 for n, p in model.named_parameters()}, (x,))
---
step = model
"""
STEPS = tuple([step.strip("\n") for step in _STEP_TEXTS.split("---")])
# How a call uses the step, and how often.
USES = (
    (4, "out = run(x, y)"), (2, "out = run(x, y)\nlossy(out)"), (1, "with torch.no_grad(): out = run(x, y)"),
    (1, "with torch.inference_mode(): out = run(x, y)"), (1, "with torch.autocast('cpu'): out = run(x, y)"),
    (1, "out = run(x, y); out = run(x, y)"), (1, "out = run(x.requires_grad_(), y)\nlossy(out)\nseen.append(x.grad)"),
    (1, "out = run(x[::2], y[::2])"), (1, "out = run(x.t().contiguous().t(), y)"), (1, "out = run(x[:3], y[:3])"),
    (1, "out = run(x.expand(2, *x.shape)[1], y)"), (1, "out = run(x[:, :5], y)"), (1, "out = run(x, x)"),
    (1, "with torch.random.fork_rng(): out = run(x, y)"), (1, "kept.append(run(x, y)); out = kept[-1]"),
    (1, "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): out = run(x, y)"),
    (1, "out = run(x.double(), y.double())"), (1, "out = threaded(x, y)"))
# What happens between two calls.
EVENTS = tuple("""
model.eval()
model.train()
module().eval()
module().train()
some().requires_grad_(False)
model.requires_grad_(True)
some().data = some().data * 0.5
some().data.mul_(1.5)
with torch.no_grad(): some().add_(0.1)
some().detach().numpy()[...] *= 0.9
some().grad = None
some().grad = torch.ones_like(some())
model.zero_grad()
model.zero_grad(set_to_none=False)
optimizer.param_groups[0]['lr'] *= 0.5
optimizer.param_groups[0]['weight_decay'] = 0.01
optimizer.state.clear()
optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
optimizer.add_param_group({'params': [p for p in [nn.Parameter(torch.ones(2))]], 'lr': 0.3})
model.load_state_dict({k: v * 0.9 if v.is_floating_point() else v for k, v in model.state_dict().items()})
model.load_state_dict({k: v.clone() for k, v in model.state_dict().items()}, assign=True)
model.double()
model.float()
model.to(torch.float64)
torch.set_default_dtype(torch.float64)
torch.set_default_dtype(torch.float32)
torch.manual_seed(PICK)
torch.rand(3)
linear().weight = nn.Parameter(torch.full((6, 6), 0.1))
linear().bias = None
linear().register_forward_hook(lambda m, a, out: out * 2)
handles.append(linear().register_forward_pre_hook(lambda m, a: (a[0] + 1,)))
handles.append(some().register_hook(lambda g: g * 2))
handles.append(some().register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.sum().item())))
handles.append(linear().register_full_backward_hook(lambda m, a, b: seen.append(b[0].sum().item())))
handles.append(optimizer.register_step_post_hook(lambda *a: seen.append('step')))
[h.remove() for h in handles]; handles.clear()
model.apply(lambda m: m.reset_parameters() if type(m) is nn.Linear else None)
prune.random_unstructured(linear(), 'weight', 0.3)
nn.utils.parametrize.register_parametrization(linear(), 'weight', nn.Tanh())
[nn.utils.parametrize.remove_parametrizations(m, 'weight') for m in model if nn.utils.parametrize.is_parametrized(m)]
model[0] = nn.Linear(6, 6)
model.append(nn.Tanh())
model.insert(0, nn.Sigmoid())
del model[-1]
[setattr(m, 'factor', m.factor + 1) for m in model.modules() if hasattr(m, 'factor')]
[setattr(m, 'which', 'b') for m in model.modules() if hasattr(m, 'which')]
[setattr(m, 'p', 0.1) for m in model.modules() if type(m) is nn.Dropout]
[setattr(m, 'momentum', 0.5) for m in model.modules() if type(m) is nn.BatchNorm1d]
[setattr(m, 'eps', 0.1) for m in model.modules() if hasattr(m, 'eps')]
[m.reset_running_stats() for m in model.modules() if type(m) is nn.BatchNorm1d]
[setattr(m, 'shift', torch.full((6,), 0.5)) for m in model.modules() if hasattr(m, 'shift')]
[b.add_(1) for b in model.buffers()]
model = copy.deepcopy(model); optimizer = MAKE(); run = AGAIN()
model.forward = types.MethodType(lambda self, x: nn.Sequential.forward(self, x) * 3, model)
linear().forward = lambda x: x * 2
seen.append([t.sum().item() for t in kept if isinstance(t, torch.Tensor)])
[t.mul_(2) for t in kept if isinstance(t, torch.Tensor) and not t.requires_grad and not t.is_inference()]
gc.collect()
kept.clear()
nn.init.constant_(some(), 0.2)
some().data.clamp_(-0.1, 0.1)
torch.utils.swap_tensors(some(), nn.Parameter(some().detach() * 2))
nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(parameters()) * 0.9, parameters())
averaged = torch.optim.swa_utils.AveragedModel(model)
averaged.update_parameters(model)
scheduler.step()
some().retain_grad()
some().share_memory_()
torch.save(model.state_dict(), buffer := io.BytesIO()); buffer.seek(0); model.load_state_dict(torch.load(buffer))
""".strip().splitlines())
