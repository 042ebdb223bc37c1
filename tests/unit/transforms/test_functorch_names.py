"""The names under which programs reach the transforms of functions: torch._functorch, torch._vmap_internals, functorch.

Programs run under `python -m retrograd run` say `import functorch`. The expected values are PyTorch's.
"""

import functools
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import retrograd as torch
from retrograd._C import _functorch as core
from retrograd._functorch import apis, autograd_function, deprecated, eager_transforms, make_functional
from retrograd._vmap_internals import _vmap, vmap as first_vmap


def test_other_names_of_the_same_functions() -> None:
    assert apis.vmap is torch.vmap
    assert eager_transforms.jacrev is torch.func.jacrev
    assert torch._functorch.functional_call.functional_call is torch.func.functional_call
    assert torch._functorch.vmap.vmap is torch.vmap


def test_a_program_imports_functorch(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import functorch, functorch.experimental, sys, warnings; warnings.simplefilter('ignore');"
        "from functorch import vmap, grad, make_functional, make_functional_with_buffers, combine_state_for_ensemble;"
        "import torch; from torch._functorch.apis import chunk_vmap; from torch._vmap_internals import _vmap;"
        "print(vmap(grad(torch.sin))(torch.zeros(2)), torch is sys.modules['retrograd'], functorch.__version__[:2])")
    found = subprocess.run([sys.executable, "-m", "retrograd", "run", program], capture_output=True, text=True,
                           check=True)
    assert found.stdout == "tensor([1., 1.]) True 2.\n"


def test_functorch_warns() -> None:
    with pytest.warns(FutureWarning, match="^We've integrated functorch into PyTorch. As the final step of the "
                                           "integration, `functorch.vmap` is deprecated .* Please use `torch.vmap`"):
        deprecated.vmap(torch.sin)(torch.zeros(2))
    with pytest.warns(FutureWarning, match="`torch.func.stack_module_state` instead"):
        deprecated.combine_state_for_ensemble([torch.nn.Linear(1, 1)])
    with pytest.warns(FutureWarning, match="^Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.$"):
        first_vmap(torch.sin)(torch.zeros(2))


def test_chunks_by_their_number() -> None:
    sizes = []

    def one(x: torch.Tensor) -> torch.Tensor:
        sizes.append(core.get_unwrapped(x).shape[0])
        return x + 1

    assert apis.chunk_vmap(one, chunks=2)(torch.zeros(5)).tolist() == [1.0] * 5
    assert sizes == [3, 2]
    assert apis.chunk_vmap(one, chunks=7)(torch.zeros(2)).tolist() == [1.0] * 2
    with pytest.raises(ValueError, match="chunks should be positive"):
        apis.chunk_vmap(one, chunks=0)


def test_the_first_vmap_is_of_tensors_and_tuples() -> None:
    assert [None if part is None else part.tolist() for part in _vmap(
        lambda x: (x, None), allow_none_pass_through=True)(torch.ones(2))] == [[1.0, 1.0], None]
    assert _vmap(lambda x: (x,), 0, 0)(torch.ones(2))[0].tolist() == [1.0, 1.0]
    for output in (None, [torch.ones(1)], 3.0):
        with pytest.raises(ValueError, match=r"must only return Tensors, got type <class '\w+'> as the return"):
            _vmap(lambda x, output=output: output)(torch.ones(2))


def test_a_module_becomes_a_function() -> None:
    layer = torch.nn.Linear(2, 2)
    model = torch.nn.Sequential(layer, layer)
    function, parameters = make_functional.make_functional(model)
    assert function.param_names == ("0.weight", "0.bias")
    assert function.names_map == {"0.weight": ["0.weight", "1.weight"], "0.bias": ["0.bias", "1.bias"]}
    assert function(parameters, torch.ones(2)).tolist() == model(torch.ones(2)).tolist()
    assert [parameter.device.type for parameter in function.parameters()] == ["meta", "meta"]
    assert [type(parameter) for parameter in parameters] == [torch.nn.Parameter] * 2


def test_tied_weights_of_two_layers() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    function, parameters = make_functional.make_functional(model)
    assert len(parameters) == 1
    assert function([torch.eye(2) * 3], torch.ones(2)).tolist() == [9.0, 9.0]


def test_a_module_with_buffers_becomes_a_function() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1))
    function, parameters, buffers = make_functional.make_functional_with_buffers(model, disable_autograd_tracking=True)
    assert not any(parameter.requires_grad for parameter in parameters)
    assert function.buffer_names == ("1.running_mean", "1.running_var", "1.num_batches_tracked")
    function(parameters, buffers, torch.arange(3.0)[:, None])
    assert [buffers[2].item(), model[1].num_batches_tracked.item()] == [1, 0]
    with pytest.raises(RuntimeError, match="^make_functional\\(model\\): `model` has buffers. Please use"):
        make_functional.make_functional(model)


def test_an_ensemble_becomes_a_function() -> None:
    models = [torch.nn.Linear(2, 1) for _ in range(3)]
    function, parameters, buffers = make_functional.combine_state_for_ensemble(models)
    found = torch.vmap(function, in_dims=(0, 0, None))(parameters, buffers, torch.ones(4, 2))
    torch.testing.assert_close(found, torch.stack([model(torch.ones(4, 2)) for model in models]).detach())
    assert [tuple(parameter.shape) for parameter in parameters] == [(3, 1, 2), (3, 1)]
    for wrong, message in (([], "at least one model, got 0"), ([models[0], torch.nn.ReLU()], "of the same class"),
                           ([models[0], torch.nn.Linear(2, 1).eval()], "same training/eval mode")):
        with pytest.raises(RuntimeError, match=f"^combine_state_for_ensemble: Expected .*{message}"):
            make_functional.combine_state_for_ensemble(wrong)


def test_the_core_knows_what_is_inside() -> None:
    seen: list[object] = []

    def looks(x: torch.Tensor) -> torch.Tensor:
        seen.extend([core.is_batchedtensor(x), core.is_gradtrackingtensor(x), core.maybe_get_level(x),
                     core.maybe_get_bdim(x), core.maybe_current_level(), torch._C._are_functorch_transforms_active()])
        return x.sin()

    torch.vmap(looks)(torch.zeros(2))
    assert seen == [True, False, 1, 0, 1, True]
    seen.clear()
    torch.func.grad(looks)(torch.tensor(0.0))
    assert seen[:2] == [False, True]
    seen.clear()
    looks(torch.zeros(2))
    assert seen == [False, False, -1, -1, None, False]


def test_samples_are_taken_and_put_together_by_hand() -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()

    def inside(y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        level = core.maybe_current_level()
        sample = core._add_batch_dim(x, 1, level)
        assert (sample.shape, core.is_batchedtensor(sample)) == ((2,), True)
        assert core._remove_batch_dim(torch.ones(2), level, 3, 0).shape == (3, 2)
        with pytest.raises(IndexError, match=r"in range of \[-2, 1\], but got 5"):
            core._remove_batch_dim(sample, level, 3, 5)
        together = core._remove_batch_dim(sample * y, level, 3, -1)
        assert not core.is_batchedtensor(together)
        return sample, together

    found, together = torch.vmap(inside, out_dims=(1, None))(torch.tensor([1.0, 2.0, 3.0]))
    assert found.tolist() == x.tolist()
    together.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[1.0, 2.0, 3.0]] * 2


def test_a_package_replaces_the_steps_of_vmap(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = torch._functorch.vmap
    calls: list[object] = []

    def takes(dims, leaves, level, spec):  # type: ignore[no-untyped-def]
        calls.append((dims, [type(leaf) for leaf in leaves], level))
        return steps.tree_unflatten([steps._add_batch_dim(leaf, dim, level) for dim, leaf in zip(dims, leaves)], spec)

    def gives(outputs, dims, level, size, function):  # type: ignore[no-untyped-def]
        calls.append((dims, level, size, steps._get_name(function)))
        return steps._maybe_remove_batch_dim("f", outputs, level, size, dims) + 1

    monkeypatch.setattr(steps, "_create_batched_inputs", takes)
    monkeypatch.setattr(steps, "_unwrap_batched", gives)
    assert torch.vmap(torch.sum, 1)(torch.ones(2, 3)).tolist() == [3.0] * 3
    assert calls == [([1], [torch.Tensor], 1), (0, 1, 3, "sum")]
    torch.vmap(torch.sum)(torch.ones(2, 3))
    places = [call[2] for call in calls[::2]]  # type: ignore[index]
    assert places == [1, 1]
    assert (places[0] == places[1], places[0] != places[1], places[0] != 1) == (False, True, False)
    assert len({*places, calls[1][1]}) == 2  # type: ignore[index]  # packages keep what they made by the place


def test_an_error_names_a_partial_function() -> None:
    with pytest.raises(ValueError, match=r"^vmap\(functools.partial\(add, ...\), in_dims=2, ...\)"):
        torch.vmap(functools.partial(torch.add, other=1), 2)(torch.ones(2))


def test_numbers_that_are_the_same_in_all_chunks() -> None:
    torch.manual_seed(0)
    expected = torch.randn(2).tolist()
    for size in (1, 2, 4):
        torch.manual_seed(0)
        found = torch.vmap(lambda x: x + torch.randn(2), randomness="same", chunk_size=size)(torch.zeros(4, 1))
        assert found.tolist() == [expected] * 4


def test_functions_with_their_own_vmap() -> None:
    class Plain(torch.autograd.Function):
        pass

    class Batches(torch.autograd.Function):
        @staticmethod
        def vmap(info, in_dims, x):  # type: ignore[no-untyped-def]
            return x, in_dims[0]

    assert [autograd_function.has_overridden_vmap_rule(each) for each in (Plain, Batches)] == [False, True]
    assert repr(autograd_function.VmapInfo(3, "error")) == "VmapInfo(batch_size=3, randomness='error')"


def test_importing_the_names_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch._functorch.deprecated.jvp is not torch.func.jvp
