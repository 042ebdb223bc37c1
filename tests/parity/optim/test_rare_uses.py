"""Optimizers, schedules and scalers in uses that few programs make, as PyTorch's."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

HEAD = """
import warnings
nn, S = torch.nn, torch.optim.lr_scheduler

names = "SGD Adam AdamW NAdam RAdam Adagrad Adadelta Adamax ASGD RMSprop Rprop".split()

def shown(*values):
    print(*[f"{float(torch.as_tensor(v).detach()):.5g}" for v in values])

def refused(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)

def made(lr=0.1, **options):
    p = nn.Parameter(torch.ones(2))
    return p, torch.optim.SGD([p], lr=lr, **options)

def stepped(schedule, optimizer, *others):
    for _ in range(8):
        optimizer.step()
        schedule.step()
        for other in others:
            other.step()
        shown(optimizer.param_groups[0]["lr"])
"""

PROGRAMS = {
    "differentiable steps in inference mode": """
        for name in names:
            p = nn.Parameter(torch.tensor([1., 2.])); p.grad = torch.ones(2)
            optimizer = getattr(torch.optim, name)([p], lr=0.1, differentiable=True)
            with torch.inference_mode(): optimizer.step()
            shown(*p); print(p.requires_grad, p.is_leaf)
    """,
    "steps that only graphs of a GPU allow": """
        for name in names:
            for foreach in (None, False, True):
                p = nn.Parameter(torch.ones(2)); p.grad = torch.ones(2)
                optimizer = getattr(torch.optim, name)([p], lr=0.1, foreach=foreach)
                optimizer.param_groups[0]["capturable"] = True
                attempt(optimizer.step)
    """,
    "two groups for L-BFGS": """
        p = nn.Parameter(torch.ones(2)); optimizer = torch.optim.LBFGS([p])
        optimizer.add_param_group({"params": nn.Parameter(torch.ones(2))})
        attempt(lambda: optimizer.step(lambda: p.sum()))
    """,
    "the state of a schedule by a measure": """
        print([*S.ReduceLROnPlateau(made()[1], "max", min_lr=[0.1]).state_dict()])
    """,
    "a rate that is one tensor with the option of a schedule": """
        for make in (lambda o, lr: S.CyclicLR(o, base_lr=lr, max_lr=0.5, step_size_up=3),
                     lambda o, lr: S.OneCycleLR(o, max_lr=lr, total_steps=10),
                     lambda o, lr: torch.optim.swa_utils.SWALR(o, swa_lr=lr, anneal_epochs=4)):
            lr = torch.tensor(0.1)
            p, optimizer = made(lr, momentum=0.9)
            stepped(make(optimizer, lr), optimizer, S.ExponentialLR(optimizer, 0.5))
    """,
    "closed forms": """
        class Mine(S.LRScheduler):
            def get_lr(self):
                return [group["lr"] * 0.9 for group in self.optimizer.param_groups]

            def _get_closed_form_lr(self):
                return [base * 0.5**self.last_epoch for base in self.base_lrs]

        p, optimizer = made()
        schedule = Mine(optimizer)
        optimizer.step()
        for epoch in (None, 5, 2, 2, None):
            schedule.step(epoch)
            shown(*schedule.get_last_lr())
        print(S.StepLR(made()[1], 2)._get_closed_form_lr())
    """,
    "steps before the schedule": """
        p, optimizer = made()
        optimizer.step()
        schedule = S.StepLR(optimizer, 2)
        schedule.step()
        optimizer.step()
        S.StepLR(optimizer, 2).step()
    """,
    "a parameter that comes later": """
        for name in ("RAdam", "NAdam", "Adam", "Adamax", "Adadelta", "Rprop", "ASGD"):
            p, q = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
            late = nn.Parameter(torch.ones(2))
            optimizer = getattr(torch.optim, name)([p, late], lr=0.1)
            for k in range(9):
                if k == 7:
                    optimizer.add_param_group({"params": [q]})
                    q.grad, late.grad = torch.ones(2), torch.full((2,), 2.)
                p.grad = torch.ones(2) * (k + 1)
                optimizer.step()
            shown(p[0], q[0], late[0])
    """,
    "halves": """
        x = torch.tensor([1., -6e4], dtype=torch.float16)
        y = torch.tensor([300., 6e4], dtype=torch.float16)
        shown(*torch.addcmul(x, y, y, value=1e-5), *torch.addcdiv(x, y, y * 1e-3, value=1e-3))
        shown(*torch.lerp(x, y, 0.5), *torch.lerp(x, y, torch.tensor([0.25, 0.75], dtype=torch.float16)))
        shown(torch.addcmul(torch.ones(1), torch.full((1,), 1e30), torch.full((1,), 1e30), value=0))
        for name in ("Adam", "AdamW", "NAdam", "RAdam"):
            p = nn.Parameter(x.clone())
            optimizer = getattr(torch.optim, name)([p], lr=0.1)
            for g in (300., 2., -5.):
                p.grad = torch.tensor([g, g], dtype=torch.float16)
                optimizer.step()
            print(all(torch.isfinite(state).all() for state in optimizer.state[p].values()))
    """,
    "parameters that stand twice": """
        for name, options in (("SGD", {"momentum": 0.9, "nesterov": True}), ("Adam", {}), ("Adagrad", {}),
                              ("RMSprop", {"momentum": 0.9}), ("Rprop", {})):
            ps = [nn.Parameter(torch.tensor([5., 2.]) + i) for i in range(9)]
            optimizer = getattr(torch.optim, name)(ps, lr=0.1, **options)
            for k in range(4):
                if k == 1:
                    optimizer.param_groups[0]["params"] += [ps[0], ps[3]]
                for p in ps:
                    p.grad = torch.tensor([0.5, -1.])
                optimizer.step()
                shown(*ps[0], *ps[1])
    """,
    "layouts of momentum": """
        x = torch.arange(6.)
        for g in (x.reshape(3, 2).t(), x[:3].expand(2, 3), torch.arange(24.).reshape(4, 6)[::2, ::2], x.reshape(2, 3)):
            for start in (torch.zeros(2, 3), torch.zeros(3, 2).t()):
                p = nn.Parameter(start.clone())
                optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.5)
                p.grad = g
                optimizer.step()
                optimizer.step()
                buffer = optimizer.state[p]["momentum_buffer"]
                print(buffer.stride())
                shown(*buffer.flatten(), *p.flatten())
    """,
    "named parameters": """
        p, q = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
        print(torch.optim.SGD([("a", p, 3), ("b", q)]).param_groups[0]["param_names"])
        refused(lambda: torch.optim.SGD([("a",)]))
        refused(lambda: torch.optim.SGD([("a", p), q]))
    """,
    "loaded counts of steps": """
        for fused in (None, True):
            for dtype in (torch.int64, torch.float64, torch.float32):
                p = nn.Parameter(torch.ones(1))
                optimizer = torch.optim.Adam([p], fused=fused)
                p.grad = torch.ones(1)
                optimizer.step()
                state = optimizer.state_dict()
                state["state"][0]["step"] = torch.tensor(3, dtype=dtype)
                optimizer.load_state_dict(state)
                print(optimizer.state[p]["step"].dtype)
    """,
    "a scaler with sparse gradients": """
        for name in ("SGD", "SparseAdam"):
            table = nn.Embedding(5, 2, sparse=True)
            with torch.no_grad():
                table.weight.copy_(torch.arange(10.).reshape(5, 2))
            optimizer = getattr(torch.optim, name)(table.parameters(), lr=0.1)
            scaler = torch.amp.GradScaler("cpu", init_scale=4.)
            for factor in (1., float("inf"), 2.):
                optimizer.zero_grad()
                scaler.scale((table(torch.tensor([1, 1, 3])) * factor).sum()).backward()
                scaler.step(optimizer)
                scaler.update()
                print(scaler.get_scale(), table.weight.grad.to_dense().tolist())
            shown(*table.weight.flatten())
    """,
    "a scaler with halves and fused steps": """
        for name in ("SGD", "Adam", "AdamW", "Adagrad"):
            p = nn.Parameter(torch.ones(2, dtype=torch.float16))
            optimizer = getattr(torch.optim, name)([p], lr=0.125, fused=True)
            scaler = torch.GradScaler("cpu", init_scale=4.)
            for factor in (1., float("inf"), 2.):
                optimizer.zero_grad()
                scaler.scale((p * factor).sum().float()).backward()
                scaler.step(optimizer)
                scaler.update()
                print(scaler.get_scale(), p.grad.tolist(), f"{p[0].item():.2f}")
            scaler.scale(p.sum().float()).backward()
            refused(lambda: scaler.unscale_(optimizer))
    """,
    "fused steps without gradients": """
        p, optimizer = made(fused=True)
        scaler = torch.GradScaler("cpu", init_scale=4.)
        scaler.scale(p.sum())
        print(scaler.step(optimizer))
        refused(lambda: scaler.step(optimizer))
    """,
    "optimizers that unscale by themselves": """
        class Own(torch.optim.SGD):
            _step_supports_amp_scaling = True

            def step(self, closure=None):
                print(self.grad_scale, self.found_inf, self.param_groups[0]["params"][0].grad)

        class Older(Own):
            def step(self, closure=None, grad_scaler=None):
                grad_scaler.unscale_(self)
                print(self.param_groups[0]["params"][0].grad)
                return 3

        for kind, explicit in ((Own, False), (Own, True), (Older, False)):
            p = nn.Parameter(torch.ones(2))
            optimizer, scaler = kind([p], lr=0.1), torch.GradScaler("cpu", init_scale=4.)
            for factor in (1., float("inf")):
                p.grad = None
                scaler.scale((p * factor).sum()).backward()
                if explicit:
                    scaler.unscale_(optimizer)
                print(scaler.step(optimizer))
                scaler.update()
                print(scaler.get_scale(), hasattr(optimizer, "grad_scale"))
    """,
    "scales of a program": """
        for scale in (2., torch.tensor(3.), torch.tensor(3), torch.ones(1), torch.ones(1, 1), torch.ones(2), 2):
            scaler = torch.GradScaler("cpu", init_scale=4.)
            scaler.scale(torch.ones(1))
            refused(lambda: scaler.update(scale))
            print(scaler.get_scale())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    program = HEAD + "\n".join([line[8:] for line in PROGRAMS[name].splitlines()])
    assert transcript(retrograd, program) == transcript(torch, program)
