"""The context of a custom Function, which is the grad_fn too, by program: the same is said as with PyTorch."""

import pytest
import torch

import retrograd
from programs.function_programs import PREAMBLE
from programs.running import transcript

PROGRAMS = {
    "ctx object": """
        class Sq(Function):
            @staticmethod
            def forward(ctx, x, k):
                global kept
                kept = ctx
                print(ctx, ctx.name(), type(ctx), type(ctx).__module__, type(ctx).__qualname__)
                print(ctx.needs_input_grad, ctx.next_functions, ctx.metadata, ctx.requires_grad)
                print(
                    ctx.to_save, ctx.dirty_tensors, ctx.non_differentiable, ctx.saved_for_forward, ctx.saved_tensors
                )
                attempt(lambda: ctx.materialize_grads)
                attempt(lambda: ctx.missing)
                ctx.a = 1
                ctx.metadata["m"] = 2
                ctx.save_for_backward(x, None)
                print(ctx.to_save, ctx.saved_tensors)
                out = x * k
                ctx.mark_non_differentiable(out)
                print(ctx.non_differentiable)
                ctx.mark_non_differentiable()
                print(ctx.non_differentiable)
                attempt(lambda: ctx.saved_variables)
                attempt(lambda: ctx.mark_shared_storage((x, x)))
                return out
            @staticmethod
            def backward(ctx, g):
                print(ctx is kept, ctx.a, ctx.b, ctx.saved_tensors, ctx.metadata, ctx.to_save)
                ctx.in_backward = 1
                return g, None
        x = leaf()
        y = Sq.apply(x, 3)
        node = y.grad_fn
        print(
            node is kept,
            node is y.grad_fn,
            node.a,
            node.metadata,
            node.to_save,
            node.dirty_tensors,
            node.non_differentiable,
            vars(node),
        )
        node.b = 5
        kept.c = 6
        print(node.c, kept.b, y.grad_fn.b)
        y.sum().backward()
        print(node.in_backward, vars(node))
        attempt(lambda: node.saved_tensors)
        attempt(lambda: node.saved_variables)
        attempt(lambda: node.missing)
        attempt(lambda: setattr(node, "saved_tensors", 3))
        attempt(lambda: setattr(node, "next_functions", 3))
        attempt(lambda: setattr(node, "metadata", 3))
        attempt(lambda: setattr(node, "needs_input_grad", 3))
        print(node.needs_input_grad)
        attempt(lambda: setattr(node, "materialize_grads", False))
        attempt(lambda: setattr(node, "materialize_grads", 1))
        attempt(lambda: node.set_materialize_grads(None))
        print(
            isinstance(node, torch.autograd.graph.Node),
            isinstance(node, torch.autograd.function.FunctionCtx),
            isinstance(node, torch.autograd.function.BackwardCFunction),
            isinstance(node, Function),
        )
        print(isinstance((x * 2).grad_fn, torch.autograd.graph.Node), isinstance(3, torch.autograd.graph.Node))
        print(issubclass(Function, torch.autograd.function.FunctionCtx))
        z = y * 2
        print(z.grad_fn.next_functions[0][0] is node, hash(node) == hash(y.grad_fn), node == y.grad_fn)
        e = torch.autograd.graph.get_gradient_edge(y)
        print(e.node is node, e.output_nr)
        attempt(lambda: node.apply)
        attempt(lambda: Function.apply.__name__)
        attempt(lambda: node.boxed_grads_call)
        attempt(lambda: node._sequence_nr() >= 0)
        print(node._forward_cls is Sq)
    """,
    "attributes named like the engine's": """
        class Names(Function):
            @staticmethod
            def forward(ctx, x):
                for name in (
                    "shape",
                    "dtype",
                    "edges",
                    "hooks",
                    "number",
                    "plan",
                    "saved",
                    "outputs",
                    "steps",
                    "op",
                    "node",
                    "index",
                    "several",
                    "positions",
                    "context",
                    "freed",
                    "runs_always",
                    "saves",
                    "name",
                    "device",
                    "args",
                    "variable",
                    "handle",
                    "attributes",
                    "public",
                    "register_hook",
                ):
                    setattr(ctx, name, 7)
                return x * 2, x * 3
            @staticmethod
            def backward(ctx, g, h):
                print(sorted(vars(ctx).items()))
                return g + h
        x = leaf()
        y, z = Names.apply(x)
        (y + z).sum().backward()
        print(x.grad, y.grad_fn.shape, y.grad_fn.next_functions)
        y, z = Names.apply(x)
        y.register_hook(lambda g: print(g))
        grads((y, z), x)
    """,
    "ctx after no recording": """
        x = leaf()
        class Sq(Function):
            @staticmethod
            def forward(ctx, x):
                global kept
                kept = ctx
                ctx.save_for_backward(x)
                ctx.a = 1
                return x * 2
            backward = staticmethod(lambda ctx, g: g)
        with torch.no_grad():
            Sq.apply(x)
        print(
            kept.saved_tensors,
            kept.next_functions,
            kept.needs_input_grad,
            kept.to_save,
            kept.a,
            kept.name(),
            kept.requires_grad,
        )
        Sq.apply(torch.ones(2))
        print(
            kept.saved_tensors,
            kept.next_functions,
            kept.needs_input_grad,
            kept.to_save,
            kept.a,
            kept.name(),
            kept.requires_grad,
        )
    """,
    "module": """
        f = torch.autograd.function
        print(f.__name__)
        for n in (
            "Function",
            "FunctionCtx",
            "FunctionMeta",
            "once_differentiable",
            "InplaceFunction",
            "BackwardCFunction",
            "_ContextMethodMixin",
            "traceable",
        ):
            print(
                n,
                hasattr(f, n),
                getattr(getattr(f, n, None), "__module__", None),
                getattr(getattr(f, n, None), "__qualname__", None),
            )
        print(f.Function is torch.autograd.Function, f._ContextMethodMixin is f.FunctionCtx)
        print(
            Function,
            f.FunctionCtx,
            torch.autograd.gradcheck.__module__ if hasattr(torch.autograd.gradcheck, "__module__") else None,
        )
    """,
    "pickling": """
        import pickle, copy
        x = leaf()
        y = made(lambda ctx, x: x * 2, lambda ctx, g: g).apply(x)
        attempt(lambda: pickle.dumps(y.grad_fn))
        attempt(lambda: copy.deepcopy(y))
        attempt(lambda: copy.deepcopy(y.grad_fn))
        attempt(lambda: copy.copy(y.grad_fn))
        attempt(lambda: pickle.dumps(type(y.grad_fn)))
        attempt(lambda: copy.copy(y).grad_fn)
        def kept(ctx, x):
            attempt(lambda: pickle.dumps(ctx))
            attempt(lambda: copy.deepcopy(ctx))
            return x * 2
        made(kept, lambda ctx, g: g).apply(x)
    """,
    "clear on access": """
        class S(Function):
            clear_saved_tensors_on_access = True
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, None)
                return x * 2
            @staticmethod
            def backward(ctx, g):
                print(ctx.saved_tensors)
                attempt(lambda: ctx.saved_tensors)
                return g
        x = leaf()
        y = S.apply(x)
        attempt(y.sum().backward)
        attempt(y.sum().backward)
        y = S.apply(x)
        y.sum().backward(retain_graph=True)
        attempt(y.sum().backward)
        y = S.apply(x)
        attempt(lambda: y.grad_fn.saved_tensors)
        attempt(lambda: y.grad_fn.saved_tensors)
        attempt(y.sum().backward)
    """,
    "boxed": """
        class S(Function):
            boxed_grads_call = True
            @staticmethod
            def forward(ctx, x):
                return x * 2, x * 3
            @staticmethod
            def backward(ctx, grads):
                print(type(grads).__name__, grads)
                return grads.pop() + grads.pop()
        x = leaf()
        y, z = S.apply(x)
        grads(y, x)
        grads((y, z), x)
        attempt(lambda: y.grad_fn.apply(torch.ones(3), torch.ones(3)))
        attempt(lambda: y.grad_fn.apply_boxed([torch.ones(3), torch.ones(3)]))
        attempt(lambda: y.grad_fn.apply_jvp(torch.ones(3)))
    """,
    "direct apply on the node": """
        y = made(lambda ctx, x: x * 2, lambda ctx, g: (g * 5, 3)).apply(leaf())
        attempt(lambda: y.grad_fn.apply(torch.ones(3)))
        attempt(lambda: y.grad_fn(torch.ones(3)))
        attempt(lambda: y.grad_fn.apply())
        attempt(lambda: y.grad_fn.apply(3))
    """,
    "inplace function": """
        f = torch.autograd.function
        class I(f.InplaceFunction):
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, g):
                return g * 2
        x = leaf()
        grads(I.apply(x), x)
        i = I(True)
        print(i.inplace, I().inplace)
        i.mark_dirty(x)
        print(i.dirty_tensors)
        i.save_for_backward(x)
        print(i.to_save, i.saved_tensors)
        i.a = 3
        b = f.BackwardCFunction()
        print(b, b.name(), b.next_functions)
    """,
    "string forms": """
        x = leaf()
        class Named(Function):
            __qualname__ = "Other.Named"
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, g):
                return g
        y = Named.apply(x)
        print(y, y.grad_fn, repr(y.grad_fn), y.grad_fn.name(), type(y.grad_fn))
        Made2 = type(
            "With space",
            (Function,),
            dict(forward=staticmethod(lambda ctx, x: x * 2), backward=staticmethod(lambda ctx, g: g)),
        )
        print(Made2.apply(x))
        print(Named._backward_cls, isinstance(y.grad_fn, Named._backward_cls))
        def inside():
            class Local(Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 2
                @staticmethod
                def backward(ctx, g):
                    return g
            return Local
        print(inside().apply(x))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n        ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
