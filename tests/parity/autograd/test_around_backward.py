"""Callbacks at the end of a backward pass, saved tensors by their type, `torch._utils`: the same as with PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "callbacks": """
        queue = torch.autograd.Variable._execution_engine.queue_callback
        log = []
        x = torch.ones(2, requires_grad=True)
        x.register_post_accumulate_grad_hook(lambda p: log.append('accumulated'))
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a): return a * 2
            @staticmethod
            def backward(ctx, g):
                log.append('backward')
                queue(lambda: log.append('first'))
                queue(lambda: log.append('second'))
                return g * 2
        F.apply(x).sum().backward(); print(log); log.clear()
        torch.autograd.grad(F.apply(x).sum(), x); print(log); log.clear()
        torch.autograd.grad(F.apply(x).sum(), x, create_graph=True); print(log); log.clear()
        def hooked(hook):
            y = x * 2
            y.register_hook(hook)
            attempt(lambda: y.sum().backward())
            print(log); log.clear()
        hooked(lambda g: queue(lambda: log.append((x.grad is not None, torch.is_grad_enabled()))))
        def outer():
            log.append('outer')
            queue(lambda: log.append('inner'))
        hooked(lambda g: queue(outer))
        def bad():
            raise ValueError('boom')
        hooked(lambda g: queue(bad) or queue(lambda: log.append('never')))
        def failing(g):
            queue(lambda: log.append('never'))
            raise ValueError('in a hook')
        hooked(failing)
        def inside(g):
            queue(lambda: log.append('of the outer'))
            with torch.enable_grad():
                z = torch.ones(1, requires_grad=True) * 2
                z.register_hook(lambda g: queue(lambda: log.append('of the inner')))
                z.sum().backward()
            log.append('inner pass done')
        hooked(inside)
        for value in (3, None, 'x'):
            hooked(lambda g: queue(value))
        hooked(lambda g: log.append(queue(lambda: 5)))
        hooked(lambda g: queue(lambda: (x * 3).sum().backward()))
        attempt(lambda: queue(lambda: None))
    """,
    "saved tensors": """
        x = torch.ones(2, requires_grad=True)
        y = x.exp(); r = y.grad_fn._raw_saved_result
        print(isinstance(r, torch.autograd.SavedTensor), type(r), torch.autograd.SavedTensor)
        attempt(lambda: torch.autograd.SavedTensor())
        print(r.data, r.unpack_hook)
        r.register_hooks(lambda t: ('p', t.detach()), lambda p: p[1])
        print(r.data, callable(r.unpack_hook))
        z = x * x; r = z.grad_fn._raw_saved_self
        print(r.data, r.data is x, r.unpack() is x)
        z.sum().backward()
        print(r.data)
        attempt(lambda: r.unpack())
        with torch.autograd.graph.saved_tensors_hooks(lambda t: 'packed', lambda p: torch.ones(2)):
            w = x * x
        r = w.grad_fn._raw_saved_self
        print(r.data, r.unpack())
        q = x * x
        with torch.no_grad(): x.mul_(2)
        print(q.grad_fn._raw_saved_self.data)
        attempt(lambda: q.grad_fn._raw_saved_self.unpack())
    """,
    "utils": """
        import warnings
        from collections import OrderedDict
        u = torch._utils
        t = torch.arange(6.).view(2, 3)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            s, c = t.storage(), torch.zeros(3, dtype=torch.complex64).storage()
        for args in ((s, 1, (2, 2), (2, 1), False, OrderedDict()), (s, 1, (2, 2), (2, 1), True, OrderedDict()),
                     (s, 1, (2, 2), (2, 1), True, OrderedDict(), None), (s, 5, (), (), False, {}),
                     (s, 0, [2], [2], False, {}), (c, 0, (2,), (1,), True, {})):
            made = u._rebuild_tensor_v2(*args)
            print(made, made.is_leaf, made._is_view(), made.stride(), made.storage_offset())
        print(u._rebuild_tensor_v2(s, 0, (6,), (1,), True, OrderedDict({0: 1}))._backward_hooks)
        print(u._rebuild_tensor_v2(s, 0, (2, 3), (3, 1), False, {}).data_ptr() == t.data_ptr())
        print(u._rebuild_tensor(s, 0, (3,), (1,)))
        print(u._rebuild_parameter(t, True, OrderedDict()), u._rebuild_parameter(t, False, OrderedDict()))
        print(u._rebuild_parameter_with_state(t, True, OrderedDict(), {'a': 1}).a)
        print(u._flatten_dense_tensors([torch.ones(2), torch.zeros(2, 2).t()]))
        print(u._flatten_dense_tensors([torch.ones(2), torch.arange(2)]), u._flatten_dense_tensors([torch.ones(2, 2)]))
        attempt(lambda: u._flatten_dense_tensors([]))
        print(u._unflatten_dense_tensors(torch.arange(6.), [torch.ones(2), torch.zeros(2, 2)]))
        print(list(u._take_tensors([torch.ones(2), torch.arange(1), torch.ones(2), torch.ones(4)], 8)))
        print(u._reorder_tensors_as([torch.ones(2), torch.ones(3), torch.arange(1)], [torch.arange(1), torch.ones(2)]))
        def elsewhere():
            try:
                raise KeyError('k')
            except KeyError:
                u.ExceptionWrapper(where='in a worker').reraise()
        attempt(elsewhere)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
