"""What random programs that hold results of compiled functions (`held_programs`) are made of."""

from __future__ import annotations

HEAD = '''
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 + 0 * x

class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(M, M), nn.Linear(M, M)
        self.scale = 1.0
    def forward(self, x):
        return self.last(self.first(x).tanh()) * self.scale

def other(x):
    return x * w + 1

net = Net()
w, b = torch.rand(M, requires_grad=True), torch.zeros(M, requires_grad=True)
parameters = [w, b, *net.parameters()]
average = [p.detach().clone() for p in parameters]
held, seen, weak, handles = [], [], [], []
scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)

def first(value):
    while isinstance(value, (list, tuple, dict)):
        value = [*value.values()][0] if isinstance(value, dict) else value[0]
    return value

def all_of(value):
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        return [each for part in value for each in all_of(part)]
    return [value] if isinstance(value, torch.Tensor) else []
'''
# From matrices of n rows to others: `{x}` and `{z}` are matrices that there are, and y and t are the targets.
MATRICES = """
{x} * w + b
{x} * w + {z}
net({x})
F.smooth_l1_loss({x}, {z}, reduction="none")
F.smooth_l1_loss({x}, y, reduction="none", beta=0.3)
F.huber_loss({x}, y, reduction="none", delta=0.7)
F.binary_cross_entropy_with_logits({x}, y.sigmoid(), reduction="none")
F.binary_cross_entropy_with_logits({x}, {z}.detach().sigmoid(), reduction="none", pos_weight=w.detach())
F.binary_cross_entropy({x}.sigmoid(), y.sigmoid(), reduction="none")
F.soft_margin_loss({x}, y.sign(), reduction="none")
F.mse_loss({x}, {z}, reduction="none")
{x} - {x}.mean(0)
{x} - {x}.mean(1, keepdim=True)
{x} / (1 + {x}.std(1, keepdim=True))
{x} / (1 + {x}.var(0))
{x} / (1 + {x}.norm(dim=1, keepdim=True))
F.normalize({x} + 0.1)
F.layer_norm({x}, (M,), w, b)
{x}.softmax(1)
{x}.log_softmax(1)
Twice.apply({x})
torch.utils.checkpoint.checkpoint(net, {x}, use_reentrant=False)
torch.vmap(lambda row, to: F.huber_loss(row, to, reduction="none"))({x}, y)
torch.func.jvp(lambda v: F.smooth_l1_loss(v, y, reduction="none"), ({x},), (y,))[1]
torch.func.grad(lambda v: F.binary_cross_entropy_with_logits(v, y.sigmoid()))({x})
torch.func.vjp(lambda v: v / (1 + v.std(1, keepdim=True)), {x})[1](y)[0]
torch.vmap(torch.func.grad(lambda row, to: F.smooth_l1_loss(row, to)))({x}, y)
torch.vmap(lambda row: row / (1 + row.norm()))({x})
{x}.clone()
{x}.t().contiguous().t()
{x}.relu()
{x}.detach() * 2
other({x})
{x} + torch.rand_like({x})
F.dropout({x}, 0.5)
torch.where({x} > 0, {x}, {z})
{x}.flip(0)
{x} + {x}.mean()
torch.autograd.grad(F.huber_loss({x} * w, y, reduction="sum"), w, create_graph=True)[0] + {x}
""".strip().splitlines()
# Numbers of matrices.
NUMBERS = """
F.smooth_l1_loss({x}, y)
F.smooth_l1_loss({x}, {z}, reduction="sum", beta=0.5) / 100
F.huber_loss({x}, y, delta=0.5)
F.soft_margin_loss({x}, y.sign())
F.binary_cross_entropy({x}.sigmoid(), y.sigmoid())
F.binary_cross_entropy_with_logits({x}, y.sigmoid(), weight=w.detach())
F.binary_cross_entropy_with_logits({x}, y.sigmoid(), pos_weight=w.detach() + 1)
F.cross_entropy({x}, t)
F.cross_entropy({x}, t, ignore_index=0)
F.cross_entropy({x}, t, label_smoothing=0.1)
F.cross_entropy({x}, t, weight=w.detach() + 1)
F.cross_entropy({x}, t, reduction="sum") / 100
F.cross_entropy({x}, t, reduction="none").square().mean()
F.cross_entropy({x}, y.softmax(1))
F.nll_loss({x}.log_softmax(1), t)
F.mse_loss({x}, y)
F.l1_loss({x}, y)
F.kl_div({x}.log_softmax(1), y.softmax(1), reduction="batchmean")
{x}.mean()
{x}.std()
{x}.var(1).mean()
{x}.norm() / 100
torch.linalg.vector_norm({x}, dim=0).mean()
""".strip().splitlines()
# Statements of functions besides those.
STATEMENTS = """
{x}.register_hook(lambda g: g * 2) if {x}.requires_grad else None
with torch.no_grad(): {x} = {x} + 1
{x} = torch.mul({x}, 2, out=torch.empty_like({x})) if not {x}.requires_grad else {x} * 2
{x} = {x} * 1; {x}.mul_(0.5)
{x} = {x} * 1; {x}[1:] += 1
{x} = {x}.as_subclass(Named).as_subclass(torch.Tensor)
with torch.autograd.graph.saved_tensors_hooks(lambda v: v * 1, lambda v: v): {x} = {x} * {x}.tanh()
with torch.autocast("cpu", dtype=torch.bfloat16): {x} = {x} + net({x}).to({x}.dtype)
""".strip().splitlines()
# Words of functions whose calls must not change places.
DRAWING = ("backward", "rand_like", "dropout", "grad", "seen", "checkpoint", "other")
# How functions end.
ENDS = [text.strip("\n") for text in """
return {x}
---
return {x}, {s}
---
return {s}
---
return {x}, {x}.detach(), {z}
---
return {x} + 0, {x}[1:]
---
return [{x}], {{"a": {z} * 2}}, x
---
return {x}.t(), {z} - 1
---
{s}.backward()
return {x}.detach(), {s}.detach()
---
optimizer.zero_grad()
{s}.backward()
optimizer.step()
return {s}.detach(), {x}.detach()
---
{s}.backward()
nn.utils.clip_grad_norm_(parameters, 1.0)
optimizer.step()
optimizer.zero_grad(set_to_none=False)
return {x}.detach() + 1
---
optimizer.zero_grad()
{s}.backward()
optimizer.step()
with torch.no_grad():
    for a, p in zip(average, parameters):
        a.lerp_(p, 0.1)
return average[0] * 1, {s}.item()
---
optimizer.zero_grad()
scaler.scale({s}).backward()
scaler.step(optimizer)
scaler.update()
return {s}.detach(), [{x}.detach()]
---
optimizer.zero_grad()
{s}.backward()
optimizer.step()
scheduler.step()
return {s}.detach(), {x} * 1
---
return torch.autograd.grad({s}, parameters, allow_unused=True), {x}.detach()
---
g = torch.autograd.grad({s}, parameters, allow_unused=True, create_graph=True)
return [each for each in g if each is not None], {x}
---
{s}.backward(retain_graph=True)
return {x}, {s}, w.grad.clone()
---
return torch.func.grad(lambda v: (v * {x}).mean())(x), {s}
---
return torch.func.jacrev(lambda v: F.huber_loss(v, torch.zeros_like(v), reduction="none"))(w), {x}
---
return torch.func.hessian(lambda v: F.soft_margin_loss(v, torch.ones_like(v)))(w), {x}
""".strip("\n").split("---")]
OPTIMIZERS = (
    "SGD(parameters, lr=0.1)", "SGD(parameters, lr=0.1, momentum=0.9, nesterov=True)", "Adam(parameters, lr=0.01)",
    "SGD([dict(params=parameters[:2], lr=0.3), dict(params=parameters[2:], momentum=0.5)], lr=0.1)",
    "AdamW([dict(params=parameters[:2], weight_decay=0.3), dict(params=parameters[2:])], lr=0.01)",
    "RMSprop(parameters, lr=0.01)", "Adagrad(parameters, lr=0.1)", "NAdam(parameters)", "Adadelta(parameters)",
    "Adamax(parameters)", "RAdam(parameters)", "Rprop(parameters)", "ASGD(parameters)", "Adafactor(parameters)")
STEADY = tuple([optimizer for optimizer in OPTIMIZERS if optimizer.startswith("SGD")])
# What the arguments of a call are, and how often.
GIVEN = (
    (8, "x, y = fresh(), fresh()"), (2, "x, y = fresh(True), fresh()"), (1, "x, y = fresh(True), fresh(True)"),
    (2, "x = y = fresh()"), (2, "x, y = like(out), fresh()"), (2, "x = y = like(out)"),
    (1, "x, y = like(out).t().contiguous().t(), like(held)"), (1, "x, y = like(held), like(out)"),
    (1, "x, y = fresh()[:1].expand(N, M), fresh()"), (1, "x, y = torch.cat([fresh(), fresh()])[::2], fresh()"),
    (1, "x = fresh(); y = x[torch.arange(N - 1, -1, -1)]"),
    (1, "y = torch.cat([fresh(), fresh()]); x = y[N:]; y = y[:N]"),
    (1, "y = torch.cat([fresh(), fresh()]); x = y[1:N + 1]; y = y[:N]"),
    (1, "x, y = fresh().as_subclass(Named), fresh()"),
    (1, "x, y = fresh().double(), fresh().double()"), (1, "x, y = fresh().float(), fresh().float()"),
    (1, "x, y = nn.Parameter(fresh()), fresh()"), (1, "x, y = like(out).detach(), like(out)"),
    (1, "x, y = like(out).data, fresh()"))
# How the function is called.
USES = (
    (14, "out = run(x, y, t)"), (2, "out = run(x, y, t); out = run(x, y, t)"),
    (2, "held.append(run(x, y, t)); out = held[-1]"),
    (1, "with torch.no_grad(): out = run(x, y, t)"), (1, "with torch.inference_mode(): out = run(x, y, t)"),
    (1, "with torch.autocast('cpu'): out = run(x, y, t)"), (1, "with torch.enable_grad(): out = run(x, y, t)"),
    (1, "out = threaded(lambda: run(x, y, t))"), (1, "out = [first(run(x, y, t)), first(run(y, x, t))]"),
    (1, "with torch.autograd.graph.saved_tensors_hooks(lambda v: v * 1, lambda v: v): out = run(x, y, t)"),
    (1, "out = [run(x, y, t) for _ in range(3)]"), (1, "out = run(like(run(x, y, t)), y, t)"),
    (1, "out = [run(x, y, t), run(x, y, t)]; del out[0]"),
    (1, "out = torch.compile(run, backend=BACKEND)(x, y, t) if BACKEND else run(x, y, t)"),
    (1, "out = [*(run(x, y, t) for _ in range(2))]"), (1, "with torch.random.fork_rng(): out = run(x, y, t)"),
    (1, "with torch.autograd.set_detect_anomaly(True): out = run(x, y, t)"))
# What happens after a call.
EVENTS = """
held.append(out)
held.append(first(out))
held.append(first(out).detach())
held.append(first(out).data)
held.append(first(out)[1:])
held.append(first(out).t())
held.append(first(out).detach().numpy())
held.append(first(out).detach().numpy()[::-1])
held.append(np.asarray(memoryview(first(out).detach().numpy())))
held.append(np.from_dlpack(first(out).detach()))
held.append(torch.from_dlpack(first(out).detach()))
held.append(torch.as_tensor(first(out).detach().numpy()))
held.append(first(out).detach().view(-1)[::3])
held.append(torch.empty(0, dtype=first(out).dtype).set_(first(out).detach().untyped_storage()))
held.append(first(out).detach().as_strided((3,), (1,), 0).clone())
held.append(copy.copy(first(out)))
held.append(copy.deepcopy(first(out).detach()))
held.append(first(out).view(-1).unbind()[:2])
held.append([p.grad for p in parameters])
held.append(w.grad)
held.append(w.grad.detach().numpy())
held.append(x)
held.append((x, y))
weak.append(weakref.ref(first(out)))
del held[0]
del held[-1]
held.clear()
threaded(held.clear)
out = None
out = None; x = y = None
out = None; held.clear(); gc.collect()
first(out).mul_(2)
first(out).zero_()
first(out)[0] = 7
first(out).data.fill_(3)
first(out).detach().numpy()[...] = 2
first(out).detach().add_(1)
first(held).mul_(2)
first(held).detach().add_(1)
first(out).data = fresh()
first(out).set_(fresh())
first(out).requires_grad_()
first(out).detach_()
first(out).name = "marked"
first(out).retain_grad()
first(out).register_hook(lambda g: g * 3)
first(out).register_hook(lambda g: seen.append(g.sum()))
first(out).register_hook(lambda g: seen.append(first(run(x.detach(), y.detach(), t)).detach().sum()) and None)
first(out).sum().backward()
first(out).sum().backward(retain_graph=True); first(out).sum().backward()
sum([each.sum() for each in all_of(out)]).backward()
sum([each.sum() for each in all_of(held) if each.requires_grad]).backward()
all_of(out)[-1].mean().backward()
seen.append(torch.autograd.grad(first(out).square().sum(), [*net.parameters()], allow_unused=True, create_graph=True))
gradgrad(first(out).square().sum())
gradgrad(sum([each.sin().sum() for each in all_of(out)]))
w.grad.mul_(2)
w.grad = None
w.grad = first(out)[0].detach().clone()
w.grad = first(out)[0].detach()
[setattr(p, "grad", None) for p in parameters]
optimizer.zero_grad()
optimizer.zero_grad(set_to_none=False)
optimizer.step()
optimizer.param_groups[0]["lr"] *= 0.5
optimizer.param_groups[-1]["weight_decay"] = 0.01
optimizer.add_param_group({"params": [nn.Parameter(torch.ones(2))], "lr": 0.3})
optimizer.state.clear()
optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
scheduler.step()
w.requires_grad_(False)
w.requires_grad_(True)
net.requires_grad_(False)
net.requires_grad_(True)
with torch.no_grad(): w.mul_(0.9)
w.data = w.data * 0.5
w.data = first(out)[0].detach()
w.detach().numpy()[...] *= 0.9
b.data.add_(0.1)
net.scale = net.scale + 0.5
net.first.weight = nn.Parameter(net.first.weight.detach() * 0.5)
handles.append(w.register_hook(lambda g: g * 2))
handles.append(w.register_hook(lambda g: seen.append(g.clone())))
handles.append(w.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.detach().sum())))
handles.append(w.register_post_accumulate_grad_hook(lambda p: held.append(p.grad)))
handles.append(net.register_forward_hook(lambda m, a, out: out * 2))
handles.append(net.register_forward_hook(lambda m, a, out: held.append(out.detach())))
handles.append(net.first.register_forward_pre_hook(lambda m, a: (a[0] + 1,)))
handles.append(net.register_full_backward_hook(lambda m, a, g: (a[0] * 2,) if a[0] is not None else None))
handles.append(net.last.register_full_backward_pre_hook(lambda m, g: (g[0] * 2,)))
handles.append(net.last.register_full_backward_hook(lambda m, a, g: held.append(g[0])))
handles.append(optimizer.register_step_post_hook(lambda *a: seen.append("step")))
[h.remove() for h in handles]; handles.clear()
torch.set_default_dtype(torch.float64)
torch.set_default_dtype(torch.float32)
torch.set_num_threads(1)
torch.set_num_threads(3)
torch.manual_seed(3)
torch.rand(3)
gc.collect()
t = torch.zeros(N, dtype=torch.int64)
t[:1] = 0
t[:1] = M
t[:1] = -100
x[:1] = float("nan")
w.data[0] = float("inf")
w.data.clamp_(-1, 1)
raised(lambda: run(x, y, "text"))
raised(lambda: run(x[:, 1:], y, t))
raised(lambda: run(x, y[:, :, None], t))
run(x.half(), y.half(), t)
run(x.long(), y.long(), t)
together(lambda: run(x, y, t))
run(first(out), first(out), t)
run(first(out), first(held), t)
held.append(run(first(out).detach(), y, t))
other = torch.compile(other, backend=BACKEND) if BACKEND else other
result = [first(run(x, y, t)) for _ in range(4)][-1]; del result
held.extend([run(x, y, t) for _ in range(3)])
""".strip().splitlines()
