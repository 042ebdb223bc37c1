"""autocast, GradScaler and Muon. Facts recorded from PyTorch."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import retrograd as torch

F = torch.nn.functional


class TestAutocast:
    @pytest.mark.parametrize(("call", "name"), [
        (lambda w: w @ w, "bfloat16"), (lambda w: F.linear(w, w), "bfloat16"), (lambda w: w.mm(w), "bfloat16"),
        (lambda w: torch.einsum("ij,jk->ik", w, w), "bfloat16"), (lambda w: torch.einsum("ij->ji", w), "float32"),
        (lambda w: torch.nn.Conv1d(2, 2, 1)(w), "bfloat16"), (lambda w: w + w, "float32"),
        (lambda w: torch.mv(w, w[0]), "float32"), (lambda w: w.bfloat16().softmax(0), "bfloat16"),
        (lambda w: w.bfloat16().prod(), "float32"), (lambda w: F.mse_loss(w.bfloat16(), w.bfloat16()), "float32"),
        (lambda w: F.cross_entropy(w.bfloat16(), w.bfloat16()), "float32"),
        (lambda w: torch.linalg.inv(w.bfloat16() + torch.eye(2).bfloat16()), "float32"),
        (lambda w: torch.cat([w, w.bfloat16()]), "float32"), (lambda w: w.double() @ w.double(), "float64"),
        (lambda w: torch.zeros(2, 2).addmm_(w.detach(), w.detach()), "float32"),
        (lambda w: torch.mm(w.detach(), w.detach(), out=torch.zeros(2, 2)), "float32"),
        (lambda w: F.pad(w.bfloat16()[None], (1, 1), "replicate"), "float32"),
        (lambda w: F.pad(w.bfloat16(), (1, 1)), "bfloat16"),
        *[(lambda w, kind=kind: getattr(torch.nn, kind)(2, 2)(w.bfloat16())[0], "bfloat16")
          for kind in ("RNN", "LSTM", "GRU")]])
    def test_types(self, call: Any, name: str) -> None:
        with torch.autocast("cpu"):
            assert call(torch.ones(2, 2, requires_grad=True)).dtype is getattr(torch, name)

    def test_float16(self) -> None:
        with torch.autocast("cpu", torch.float16):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float16
        assert torch.get_autocast_dtype("cpu") is torch.bfloat16

    def test_nesting_and_the_cache(self) -> None:
        w = torch.ones(2, 2, requires_grad=True)
        with torch.autocast("cpu"):
            a, b = (w @ torch.ones(2, 2) for _ in range(2))
            with torch.autocast("cpu", enabled=False):
                assert not torch.is_autocast_enabled("cpu")
                assert (w @ w).dtype is torch.float32
            assert torch.is_autocast_enabled("cpu")
        assert type(a.grad_fn.next_functions[0][0]).__name__ == "ToCopyBackward0"
        assert a.grad_fn.next_functions[0][0] is b.grad_fn.next_functions[0][0]
        with torch.autocast("cpu", cache_enabled=False):
            a, b = (w @ torch.ones(2, 2) for _ in range(2))
        assert a.grad_fn.next_functions[0][0] is not b.grad_fn.next_functions[0][0]
        (w @ w).sum().backward()
        assert w.grad.dtype is torch.float32

    def test_it_ends_with_an_error(self) -> None:
        with pytest.raises(ZeroDivisionError), torch.autocast("cpu"):
            raise ZeroDivisionError
        assert not torch.is_autocast_enabled("cpu")
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32

    def test_as_a_decorator(self) -> None:
        @torch.autocast("cpu")
        def product(a: torch.Tensor) -> torch.Tensor:
            """The square."""
            return a @ a

        assert product(torch.ones(2, 2)).dtype is torch.bfloat16
        assert (product.__name__, product.__doc__) == ("product", "The square.")

    def test_warnings_and_errors(self) -> None:
        with pytest.warns(UserWarning, match="CUDA is not available or torch_xla is imported. Disabling autocast."):
            assert not torch.autocast("cuda")._enabled
        with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported."):
            torch.autocast("cpu", torch.float64)
        with pytest.warns(FutureWarning, match="`torch.cpu.amp.autocast"):
            torch.cpu.amp.autocast()
        with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
            torch.autocast(3)
        with pytest.raises(RuntimeError, match="device type at start of device string: foo"):
            torch.autocast("foo")
        with pytest.warns(DeprecationWarning, match="get_autocast_dtype\\('cpu'\\)"):
            assert torch.get_autocast_cpu_dtype() is torch.bfloat16

    def test_custom_functions(self) -> None:
        seen = []

        class Twice(torch.autograd.Function):
            @staticmethod
            @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
            def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
                seen.append((x.dtype, torch.is_autocast_enabled("cpu")))
                return x * 2

            @staticmethod
            @torch.amp.custom_bwd(device_type="cpu")
            def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
                seen.append((g.dtype, torch.is_autocast_enabled("cpu")))
                return g * 2

        with torch.autocast("cpu"):
            y = Twice.apply(torch.ones(2, dtype=torch.bfloat16, requires_grad=True))
        y.sum().backward()
        assert seen == [(torch.float32, False)] * 2

    def test_a_training_step(self) -> None:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
        optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1), torch.GradScaler("cpu", init_scale=1024.0)
        x, y, losses = torch.randn(12, 6), torch.randint(0, 3, (12,)), []
        for _ in range(4):
            optimizer.zero_grad()
            with torch.autocast("cpu"):
                loss = F.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(round(loss.item(), 3))
        assert losses == LOSSES


LOSSES = [1.055, 1.039, 1.023, 1.008]


class TestGradScaler:
    def setup_method(self) -> None:
        self.w = torch.ones(2, requires_grad=True)
        self.optimizer, self.scaler = torch.optim.SGD([self.w], 0.1), torch.GradScaler("cpu")

    def test_a_step(self) -> None:
        self.scaler.scale(self.w.sum()).backward()
        assert self.w.grad.tolist() == [65536.0, 65536.0]
        self.scaler.unscale_(self.optimizer)
        assert self.w.grad.tolist() == [1.0, 1.0]
        self.scaler.step(self.optimizer)
        self.scaler.update()
        assert repr(self.w) == "tensor([0.9000, 0.9000], requires_grad=True)"
        assert self.scaler.state_dict() == {
            "scale": 65536.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000,
            "_growth_tracker": 1}

    def test_an_infinite_gradient(self) -> None:
        self.scaler.scale(self.w.sum())
        self.w.grad = torch.tensor([float("inf"), 1.0])
        assert self.scaler.step(self.optimizer) is None
        self.scaler.update()
        assert (self.w.tolist(), self.scaler.get_scale()) == ([1.0, 1.0], 32768.0)

    def test_growth(self) -> None:
        self.scaler.load_state_dict({"scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2,
                                     "_growth_tracker": 0})
        scales = []
        for _ in range(4):
            self.optimizer.zero_grad()
            self.scaler.scale(self.w.sum()).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            scales.append(self.scaler.get_scale())
        assert scales == [8.0, 16.0, 16.0, 32.0]

    def test_wrong_orders(self) -> None:
        for name in ("step", "unscale_"):
            with pytest.raises(AssertionError, match=f"Attempted {name} but _scale is None"):
                getattr(self.scaler, name)(self.optimizer)
        self.scaler.scale(self.w.sum()).backward()
        self.scaler.unscale_(self.optimizer)
        with pytest.raises(RuntimeError, match="has already been called on this optimizer since the last update"):
            self.scaler.unscale_(self.optimizer)
        self.scaler.step(self.optimizer)
        with pytest.raises(RuntimeError, match="step\\(\\) has already been called since the last update"):
            self.scaler.step(self.optimizer)
        with pytest.raises(AssertionError, match="may only be pickled at the beginning of an iteration"):
            pickle.dumps(self.scaler)
        self.scaler.update()
        with pytest.raises(AssertionError, match="No inf checks were recorded prior to update."):
            self.scaler.update()
        assert pickle.loads(pickle.dumps(self.scaler)).state_dict() == self.scaler.state_dict()
        with pytest.raises(RuntimeError, match="The source state dict is empty"):
            self.scaler.load_state_dict({})

    def test_gradients_that_are_rare(self) -> None:
        table, z = torch.nn.Embedding(3, 2, sparse=True), torch.ones(1, dtype=torch.complex64, requires_grad=True)
        scaler = torch.GradScaler("cpu", init_scale=4.0)
        scaler.scale(table(torch.tensor([0, 0, 2])).sum() + z.abs().sum()).backward()
        optimizer, other = torch.optim.SGD(table.parameters()), torch.optim.SGD([z])
        scaler.unscale_(optimizer)
        assert table.weight.grad.to_dense().tolist() == [[2.0, 2.0], [0.0, 0.0], [1.0, 1.0]]
        with pytest.raises(NotImplementedError, match="_unscale_cpu\" not implemented for 'ComplexFloat'$"):
            scaler.unscale_(other)

    def test_half_precision_gradients(self) -> None:
        w = torch.ones(2, dtype=torch.float16, requires_grad=True)
        self.scaler.scale(w.sum()).backward()
        with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients."):
            self.scaler.unscale_(torch.optim.SGD([w], 0.1))

    def test_without_cuda_it_does_nothing(self) -> None:
        with pytest.warns(UserWarning, match="torch.cuda.amp.GradScaler is enabled, but CUDA is not available."):
            scaler = torch.GradScaler()
        assert (scaler.is_enabled(), scaler.get_scale(), scaler.state_dict()) == (False, 1.0, {})


def test_muon() -> None:
    w = torch.ones(2, 3, requires_grad=True)
    optimizer = torch.optim.Muon([w])
    w.grad = torch.ones(2, 3)
    optimizer.step()
    torch.testing.assert_close(w.detach(), torch.full((2, 3), 0.9996), rtol=0, atol=5e-5)
    assert repr(optimizer.state_dict()["state"][0]["momentum_buffer"][0]) == "tensor([0.0500, 0.0500, 0.0500])"
    with pytest.raises(ValueError, match="Muon only supports 2D parameters"):
        torch.optim.Muon([torch.ones(3, requires_grad=True)])
    with pytest.raises(ValueError, match="Adjust learning rate function x is not supported"):
        torch.optim.Muon([w], adjust_lr_fn="x")


@pytest.mark.parametrize(("name", "value"), [("SGD", 0.8984375), ("Adam", 0.8984375), ("AdamW", 0.8984375)])
def test_steps_in_bfloat16(name: str, value: float) -> None:
    w = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    optimizer = getattr(torch.optim, name)([w], 0.1)
    w.grad = torch.ones(2, dtype=torch.bfloat16)
    optimizer.step()
    assert (w.tolist(), w.dtype) == ([value, value], torch.bfloat16)
