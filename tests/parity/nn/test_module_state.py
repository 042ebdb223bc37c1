"""What a module keeps beside its members: hooks on its state, registration, conversion, lazy parameters."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "lazy modules are converted": """
        nn = torch.nn
        for make in (lambda: nn.LazyLinear(3), nn.LazyBatchNorm2d, lambda: nn.Sequential(nn.LazyConv1d(2, 1))):
            for given in ((torch.float16,), (torch.float64,), ("cpu",), ("cpu", torch.float16), (torch.ones(1),)):
                m = make(); print(m.to(*given) is m, [(p.dtype, type(p).__name__) for p in m.parameters()])
        m = nn.LazyLinear(3).to(torch.float64)
        print(m(torch.ones(2, 4, dtype=torch.float64)).dtype, m)
    """,
    "a buffer keeps what the tensor requires": """
        w = torch.ones(2, requires_grad=True)
        for given in (w, w * 2, w.detach(), torch.ones(1, dtype=torch.int64), None):
            buffer = torch.nn.Buffer(given, persistent=False)
            print(buffer.requires_grad, buffer.is_leaf, isinstance(buffer, torch.nn.Buffer), buffer.persistent)
        m = torch.nn.Module(); m.b = torch.nn.Buffer(w); print(m.b.requires_grad, [*m.state_dict()])
    """,
    "calls without the input": """
        nn = torch.nn
        for m in (nn.ELU(), nn.CELU(), nn.ReflectionPad2d(1), nn.ReplicationPad1d(1), nn.CircularPad3d(1),
                  nn.ZeroPad2d(1), nn.ConstantPad1d(1, 0.), nn.BatchNorm1d(2), nn.InstanceNorm2d(2), nn.LayerNorm(2)):
            attempt(lambda: m())
        for kind in (nn.CELU, nn.BatchNorm1d, nn.BatchNorm3d, nn.InstanceNorm1d, nn.LazyBatchNorm1d, nn.GroupNorm):
            attempt(lambda: kind(1, 2, 3, 4, 5, 6, 7, 8, 9)); attempt(lambda: kind(wrong=1))
        print(isinstance(nn.CELU(), nn.ELU), nn.CELU(0.5)(torch.tensor(-1.)), nn.ELU(0.5))
    """,
    "a submodule is set": """
        nn = torch.nn
        m = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        m.a = nn.Sequential(nn.Linear(1, 1))
        for target, strict in [("0", False), ("a.0", True), ("a.b", False), ("a.c", True), ("", False), ("x.y", False),
                               ("a.training", False), ("a.training.x", False), ("zz", False), ("yy", True),
                               ("a.0.inplace", True)]:
            print(target, strict); attempt(lambda: m.set_submodule(target, nn.Tanh(), strict=strict))
        attempt(lambda: m.set_submodule("a.0", 3))
        print(m)
    """,
    "arguments of init": """
        nn = torch.nn
        attempt(lambda: nn.Module(3)); attempt(lambda: nn.Module(a=3))
        class Mixin:
            def __init__(self, *a, **k): print("mixin", a, k)
        class Handed(nn.Module, Mixin):
            call_super_init = True
        Handed(1, b=2)
        class Plain(nn.Module, Mixin): pass
        attempt(lambda: Plain(1, b=2)); attempt(lambda: Plain(1))
        print([k for k in vars(nn.Module())])
        old = nn.ReLU.__new__(nn.ReLU)
        old.__setstate__({"_parameters": {}, "_buffers": {}, "_modules": {}, "_forward_hooks": {}})
        print(sorted(vars(old)))
        print(nn.Module.dump_patches, nn.Module._compiled_call_impl, nn.Module._version)
    """,
    "hooks on the saving": """
        nn = torch.nn
        net = nn.Sequential(nn.Linear(2, 2))
        for m, name in ((net, "net"), (net[0], "linear")):
            m.register_state_dict_pre_hook(lambda m, p, k, n=name: print(n, "before", p, k))
            m.register_state_dict_post_hook(lambda m, s, p, meta, n=name: print(n, "after", [*s], p, meta))
        print([*net.state_dict(prefix="x.", keep_vars=True)])
        h = net.register_state_dict_post_hook(lambda *a: 5)
        attempt(net.state_dict); h.remove()
        net._register_state_dict_hook(lambda m, s, p, meta: {"all": 1})
        print(net.state_dict())
        def hook(*a): pass
        net.register_state_dict_post_hook(hook)
        attempt(lambda: net._register_state_dict_hook(hook))
    """,
    "hooks on the loading": """
        nn = torch.nn
        kinds = lambda a: [type(x).__name__ for x in a]
        m = nn.Linear(2, 2)
        m.register_load_state_dict_pre_hook(lambda *a: print("public", kinds(a), a[2:]))
        m._register_load_state_dict_pre_hook(lambda *a: print("plain", kinds(a)))
        m._register_load_state_dict_pre_hook(lambda *a: print("with module", kinds(a)), with_module=True)
        m._register_load_state_dict_pre_hook(lambda s, p, *a: s.pop(p + "old", None))
        m.register_load_state_dict_post_hook(lambda m, k: print("after", k))
        print(m.load_state_dict({**nn.Linear(2, 2).state_dict(), "old": 1}))
        attempt(lambda: m.load_state_dict({"weight": torch.zeros(3, 3), "q": torch.zeros(1)}))
        m.register_load_state_dict_post_hook(lambda m, k: k.missing_keys.clear())
        print(m.load_state_dict({"weight": torch.zeros(2, 2)}))
        m.register_load_state_dict_post_hook(lambda m, k: 4)
        attempt(lambda: m.load_state_dict({"weight": torch.zeros(2, 2)}))
        import copy
        copied = copy.deepcopy(nn.Sequential(nn.ReLU()))
        first = nn.ReLU(); first.tag = "first"
        first.register_load_state_dict_pre_hook(lambda m, *a: print(m.tag))
        second = copy.deepcopy(first); second.tag = "second"
        second.load_state_dict({}); first.load_state_dict({})
    """,
    "other state": """
        nn = torch.nn
        class Saves(nn.Module):
            def get_extra_state(self): return {"v": 1}
        class Both(Saves):
            def set_extra_state(self, state): print("set", state)
        print(Saves().state_dict()); attempt(lambda: Saves().load_state_dict(Saves().state_dict()))
        attempt(lambda: Both().load_state_dict({})); print(Both().load_state_dict(Both().state_dict()))
        attempt(lambda: nn.Module().get_extra_state()); attempt(lambda: nn.Module().set_extra_state(1))
        m = nn.Linear(2, 2)
        state = {"weight": torch.ones(2, 2, dtype=torch.float64), "bias": nn.Parameter(torch.ones(2), False)}
        m.load_state_dict(state, assign=True)
        print(m.weight, m.bias, m.bias is state["bias"])
        b = nn.BatchNorm1d(2); state = b.state_dict(); b.load_state_dict(state, assign=True)
        print(b.running_mean is state["running_mean"], type(b.weight).__name__)
        attempt(lambda: m.load_state_dict({"weight": torch.zeros(2, 2), "bias": 3}))
        missing, unexpected = [], []
        m._load_from_state_dict({"odd": torch.ones(1)}, "", {}, False, missing, unexpected, [])
        print(missing, unexpected)
        print(nn.modules.module._IncompatibleKeys(["a"], []), nn.modules.module._EXTRA_STATE_KEY_SUFFIX)
    """,
    "registration": """
        nn = torch.nn
        M = nn.modules.module
        for k in ("parameter", "buffer", "module"):
            getattr(M, f"register_module_{k}_registration_hook")(
                lambda m, n, x, k=k: print(k, type(m).__name__, n, type(x).__name__))
        m = nn.Linear(1, 1)
        m.weight = None; m.bias = nn.Parameter(torch.ones(2)); m.x = nn.ReLU(); m.x = None
        m.add_module("y", nn.ReLU()); m.add_module("z", None); m.register_module("zz", nn.ReLU())
        m.register_buffer("b", torch.ones(1)); m.b = torch.ones(2); m.b = None
        m.register_buffer("q", None); m.register_parameter("w", None)
        M._global_parameter_registration_hooks = {}; M._global_buffer_registration_hooks.clear()
        M._global_module_registration_hooks = {1: lambda m, n, x: nn.Tanh()}
        print(nn.Sequential(nn.ReLU()))
        M._global_module_registration_hooks = type(M._global_forward_hooks)()
        M._global_parameter_registration_hooks = type(M._global_forward_hooks)()
        h = M.register_module_forward_hook(lambda *a: print("forward"))
        print(bool(M._has_any_global_hook()))
        relu = nn.ReLU(); relu(torch.ones(1))
        M._global_forward_hooks = type(M._global_forward_hooks)(); relu(torch.ones(1)); h.remove()
        M._global_forward_pre_hooks[7] = lambda m, a: (a[0] + 1,)
        print(relu(torch.ones(1))); M._global_forward_pre_hooks.clear(); print(relu(torch.ones(1)))
        M._global_is_full_backward_hook = None
        print(M._addindent("a\\nb", 3), relu._call_impl(torch.ones(1)), relu._wrapped_call_impl(torch.ones(1)))
        r = m._replicate_for_data_parallel(); print(r._parameters, [*r._buffers], [*r._modules], r._is_replica)
    """,
    "assigned buffers": """
        nn, ones = torch.nn, torch.ones(1)
        m = nn.Linear(1, 1); m.x = 3
        def put(name, value): setattr(m, name, value); return list(m.state_dict()), m._non_persistent_buffers_set
        attempt(lambda: put("x", nn.Buffer(ones))); attempt(lambda: put("extra_repr", nn.Buffer(ones)))
        attempt(lambda: put("weight", nn.Buffer(ones))); attempt(lambda: put("y", nn.Buffer(ones, persistent=False)))
        attempt(lambda: put("y", ones)); attempt(lambda: put("y", nn.Buffer(ones))); attempt(lambda: put("y", 4))
        class Own(nn.Module):
            def register_buffer(self, name, tensor, persistent=True):
                print("own", name, tensor, persistent); super().register_buffer(name, tensor, persistent)
        class Older(nn.Module):
            def register_buffer(self, name, tensor):
                print("older", name, tensor); super().register_buffer(name, tensor)
        for kind in (Own, Older):
            m = kind(); m.register_buffer("y", ones); m.y = ones; m.y = None; m.z = nn.Buffer(ones)
            attempt(lambda: put("u", nn.Buffer(ones, persistent=False)))
            attempt(lambda: put("u", ones))
        class Early(nn.Module):
            def __init__(self): self.x = nn.Buffer(torch.ones(1))
        attempt(Early)
    """,
    "conversion": """
        nn = torch.nn
        b = nn.BatchNorm1d(2)
        b.to_empty(device="cpu"); print(b, b.share_memory())
        for n in ("ipu", "xpu", "cuda"):
            try: getattr(b, n)()
            except Exception as error: print(type(error).__name__)
        print(b.type(torch.float64).weight.dtype, b.num_batches_tracked.dtype, b.type("torch.FloatTensor").bias.dtype)
        attempt(lambda: b.to(torch.int32)); attempt(lambda: b.to(foo=1)); print(b.to(), b.to(non_blocking=True))
        print(b.to("cpu", torch.float64, True).weight.dtype, b.to(tensor=torch.ones(1)).weight.dtype)
        c = nn.Conv2d(2, 3, 2).to(memory_format=torch.channels_last)
        print(c.weight.stride(), c.bias.stride())
        F = torch.__future__
        print(F.get_overwrite_module_params_on_conversion(), F.get_swap_module_params_on_conversion())
        F.set_overwrite_module_params_on_conversion(True)
        m = nn.Linear(1, 1); w = m.weight; m.double(); print(w is m.weight, w.dtype, m.weight.dtype)
        F.set_overwrite_module_params_on_conversion(False)
        F.set_swap_module_params_on_conversion(True)
        m = nn.Linear(1, 1); w = m.weight; m(torch.ones(1, 1)).sum().backward(); m.double()
        print(w is m.weight, w.dtype, w.grad)
        m(torch.ones(1, 1, dtype=torch.float64)).sum().backward(); print(w.grad)
        m.load_state_dict({"weight": torch.ones(1, 1, dtype=torch.float64), "bias": torch.ones(1)}); print(m.bias)
        m.load_state_dict({"weight": torch.ones(1, 1, dtype=torch.float16), "bias": torch.ones(1)}, assign=True)
        print(m.weight, m.bias, w is m.weight)
        F.set_swap_module_params_on_conversion(False)
        m._apply(lambda t: t * 0 if t.dim() else t, recurse=False); print(m.weight)
    """,
    "swapped tensors": """
        import weakref
        swap = torch.utils.swap_tensors
        a, b = torch.nn.Parameter(torch.ones(2)), torch.zeros(3)
        a.foo = 3; swap(a, b); print(a, b, vars(b), vars(a))
        w = weakref.ref(a); attempt(lambda: swap(a, b)); attempt(lambda: swap(b, a))
        class Slotted(torch.Tensor): __slots__ = ("q",)
        attempt(lambda: swap(torch.ones(1), torch.ones(1).as_subclass(Slotted)))
        a, b = torch.ones(2, requires_grad=True), torch.zeros(2)
        a.grad = torch.ones(2); swap(a, b); print(a, b, a.grad, b.grad)
        a, b = torch.ones(2, requires_grad=True), torch.zeros(3)
        out = (a * 2).sum(); swap(a, b); attempt(out.backward); print(a.grad, b.grad)
        del out; b.sum().backward(); print(a.grad, b.grad)
        print(torch.ones(2).module_load(torch.zeros(2)), torch.ones(2).module_load(torch.zeros(2), assign=True))
        attempt(lambda: torch.nn.Parameter(torch.ones(2)).module_load(torch.zeros(2)))
    """,
    "classes of parameters": """
        nn = torch.nn
        class P(nn.Parameter):
            def __new__(cls, data, *, foo=1, requires_grad=True):
                made = torch.Tensor._make_subclass(cls, data, requires_grad); made.foo = foo; return made
        p = P(torch.ones(2), foo=3); print(p, p.foo, isinstance(p, nn.Parameter), type(p + 1).__name__)
        m = nn.Linear(2, 2); m.weight = P(torch.ones(2, 2), foo=4); print(m.weight.foo, m(torch.ones(1, 2)).shape)
        class Q(nn.Parameter):
            def __new__(cls, data, requires_grad=True, extra=None): return super().__new__(cls, data, requires_grad)
            def __init__(self, data, requires_grad=True, extra=None): self.extra = extra
        print(Q(torch.ones(1), extra=5).extra)
    """,
}
LAZY = {
    "parameters": """
        import copy, pickle
        nn = torch.nn
        u = nn.UninitializedParameter()
        print(repr(u), u.requires_grad, u.dtype, u.device, u.is_floating_point(), u.grad, u.size())
        attempt(lambda: u.shape); attempt(u.share_memory_)
        print(type(copy.deepcopy(u)).__name__, pickle.loads(pickle.dumps(u)), u.half().dtype, u.to(torch.float32) is u)
        u.foo = 1; u.materialize((2, 3)); print(type(u).__name__, u.shape, u.foo, u.requires_grad, u.is_leaf)
        u = nn.UninitializedParameter(requires_grad=False, dtype=torch.float64)
        u.materialize((2,), dtype=torch.float32); print(u.dtype, u.requires_grad)
        b = nn.UninitializedBuffer(); print(repr(b), b.requires_grad, b.persistent)
        attempt(lambda: b.shape); b.materialize((2,)); print(type(b).__name__, b.shape)
        print(nn.parameter.is_lazy(nn.UninitializedBuffer()), nn.parameter.is_lazy(torch.ones(1)),
              isinstance(nn.UninitializedParameter(), nn.Parameter), isinstance(b, nn.Buffer))
    """,
    "a linear layer": """
        import copy, pickle
        nn = torch.nn
        m = nn.LazyLinear(3)
        print(m, [k for k in vars(m)], m.in_features, m.has_uninitialized_params(), m.state_dict())
        attempt(lambda: m.weight.shape)
        print(copy.deepcopy(m), pickle.loads(pickle.dumps(m)))
        torch.manual_seed(0); print(m(torch.ones(2, 5)), m, type(m), [k for k in vars(m)][-3:])
        print(len(m._forward_pre_hooks), len(m._load_state_dict_pre_hooks), type(m.weight).__name__)
        n = nn.LazyLinear(3); print(n.load_state_dict(m.state_dict()), n, n.weight.shape)
        attempt(lambda: n(torch.ones(2, 4))); print(n(torch.ones(2, 5)), n)
        print(nn.LazyLinear(3, bias=False).state_dict())
        attempt(lambda: m.load_state_dict(nn.LazyLinear(3).state_dict()))
        print(nn.LazyLinear(3).load_state_dict(nn.LazyLinear(3).state_dict()))
        net = nn.Sequential(nn.LazyLinear(3), nn.LazyLinear(2)).double()
        print(net(torch.ones(1, 4, dtype=torch.float64)).dtype, net)
        m = nn.LazyLinear(3); opt = torch.optim.SGD(m.parameters(), 0.1); m(torch.ones(1, 2)).sum().backward()
        before = m.weight.detach().clone(); opt.step(); print(m.weight - before)
        attempt(lambda: nn.LazyLinear(3).share_memory())
        attempt(lambda: nn.LazyLinear(3)._replicate_for_data_parallel())
    """,
    "other layers": """
        nn = torch.nn
        torch.manual_seed(0)
        m = nn.LazyConv2d(3, 2); print(m, m.in_channels); attempt(lambda: m(torch.ones(2, 2)))
        print(m(torch.ones(1, 2, 3, 3)), m)
        m = nn.LazyConv1d(4, 2, groups=2); attempt(lambda: m(torch.ones(1, 3, 4))); print(m, m(torch.ones(2, 4)).shape)
        m = nn.LazyConvTranspose3d(4, 2); print(m(torch.ones(1, 2, 2, 2, 2)).shape, m)
        for name, shape in (("LazyBatchNorm1d", (3, 2)), ("LazyBatchNorm3d", (2, 3, 1, 2, 2)),
                            ("LazyInstanceNorm2d", (2, 3, 2, 2))):
            m = getattr(nn, name)(); print(m, m.state_dict(), m.num_features)
            print(m(torch.rand(shape)).shape, m, m.running_mean, type(m).__name__)
        print(nn.LazyBatchNorm2d(affine=False, track_running_stats=False).state_dict())
        m = nn.LazyBatchNorm2d().double(); print(type(m.running_mean).__name__, m.running_mean.dtype)
        print(m(torch.ones(1, 2, 2, 2, dtype=torch.float64)).dtype, m.running_mean.dtype)
        m = nn.LazyBatchNorm2d(); attempt(lambda: m(torch.ones(2, 3))); print(type(m).__name__)
        class Scaled(nn.modules.lazy.LazyModuleMixin, nn.Module):
            def __init__(self): super().__init__(); self.w = nn.UninitializedParameter()
            def forward(self, x): return x * self.w
        attempt(lambda: Scaled()(torch.ones(2)))
        class Filled(Scaled):
            def initialize_parameters(self, x): self.w.materialize(x.shape); self.w.data.fill_(2)
        m = Filled(); print(m(torch.ones(2)), type(m).__name__)
        class Forgotten(Scaled):
            def initialize_parameters(self, x): pass
        attempt(lambda: Forgotten()(torch.ones(2)))
    """,
}


@pytest.mark.parametrize("program", [*PROGRAMS.values(), *LAZY.values()], ids=[*PROGRAMS, *LAZY])
def test_a_program_says_the_same(program: str) -> None:
    assert transcript(retrograd, program) == transcript(torch, program)


@pytest.mark.parametrize("attribute", ["sum", "numel", "detach", "clone", "stride", "zero_"])
def test_uninitialized_parameters_refuse_the_same_calls(attribute: str) -> None:
    """The text names the function, which has another text here."""
    for library in (retrograd, torch):
        for lazy in (library.nn.UninitializedParameter(), library.nn.UninitializedBuffer()):
            with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in "):
                getattr(lazy, attribute)()
