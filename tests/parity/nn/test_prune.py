"""Pruned parameters as in PyTorch, with the same random numbers."""

import importlib

import pytest
import torch

import retrograd
from programs.running import transcript

BEGIN = """
    nn, prune = torch.nn, torch.nn.utils.prune
    def method_of(m): return [*m._forward_pre_hooks.values()][0]
    torch.manual_seed(0)
"""
PROGRAMS = {
    "one after another": """
        m = nn.Linear(4, 3)
        print(prune.random_unstructured(m, "weight", 0.3) is m, m.weight_mask, [n for n, _ in m.named_parameters()])
        print([*m.state_dict()], type(m.weight), m.weight.grad_fn, "weight" in vars(m), vars(method_of(m)))
        prune.l1_unstructured(m, "weight", 2); print(m.weight_mask, method_of(m)._tensor_name)
        prune.ln_structured(m, "weight", 1, 2, 0); print(m.weight_mask)
        prune.random_structured(m, "weight", 1, 1); print(m.weight_mask, prune.is_pruned(m))
        c = method_of(m)
        print(len(c), [type(x) for x in c], [vars(x) for x in c], c[1].PRUNING_TYPE, c[2].PRUNING_TYPE)
        print(m(torch.ones(1, 4))); m(torch.ones(1, 4)).sum().backward(); print(m.weight_orig.grad)
        attempt(lambda: c.add_pruning_method(3)); attempt(lambda: c.add_pruning_method(prune.L1Unstructured(1)))
        attempt(lambda: prune.remove(m, "bias")); print(prune.remove(m, "weight") is m)
        print([n for n, _ in m.named_parameters()], len(m._forward_pre_hooks), m.weight, [*m.state_dict()])
    """,
    "amounts": """
        for a in (1.5, -1, -0.1, "x", 100, 0, 0.0, 1.0, 0.5, 12, 13):
            m = nn.Linear(4, 3); attempt(lambda: prune.random_unstructured(m, "weight", a).weight_mask)
            print(a, [*m._parameters], [*m._buffers], len(m._forward_pre_hooks))
            m = nn.Linear(4, 3); attempt(lambda: prune.l1_unstructured(m, "weight", a).weight_mask)
        for a, n, d in ((1, 2, 0), (0.5, 1, 1), (5, 2, 0), (1, 2, 5), (1, float("inf"), -1), (1, "fro", 0), (1, -1, 0),
                        (0, 2, 0), (1, 0, 0)):
            m = nn.Linear(4, 3); attempt(lambda: prune.ln_structured(m, "weight", a, n, d).weight_mask)
            m = nn.Linear(4, 3); attempt(lambda: prune.random_structured(m, "weight", a, d).weight_mask)
        m = nn.Conv2d(2, 3, 2); prune.ln_structured(m, "weight", 1, 2, 0); print(m.weight_mask)
        prune.ln_structured(m, "weight", 0.5, 1, 1); print(m.weight_mask)
        m = nn.Linear(4, 3); attempt(lambda: prune.ln_structured(m, "bias", 1, 2, 0))
        attempt(lambda: prune.random_structured(m, "bias", 1, 0)); attempt(lambda: prune.l1_unstructured(m, "foo", 3))
    """,
    "masks and scores": """
        m = nn.Linear(4, 3); prune.identity(m, "bias"); print(m.bias_mask, m.bias, m.bias_orig)
        m = nn.Linear(2, 2); prune.custom_from_mask(m, "weight", torch.tensor([[1, 0], [0, 1]])); print(m.weight)
        prune.custom_from_mask(m, "weight", torch.tensor([[0, 0], [0, 1]])); print(m.weight_mask)
        attempt(lambda: prune.custom_from_mask(m, "weight", torch.ones(3)))
        m = nn.Linear(4, 3); scores = torch.arange(12.).view(3, 4)
        prune.l1_unstructured(m, "weight", 3, importance_scores=scores); print(m.weight_mask)
        prune.l1_unstructured(m, "weight", 0.25, importance_scores=scores); print(m.weight_mask)
        attempt(lambda: prune.l1_unstructured(nn.Linear(4, 3), "weight", 3, importance_scores=torch.ones(2)))
        print(prune.LnStructured(1, 2).compute_mask(torch.tensor([[1., 2], [3, 4]]), torch.ones(2, 2)))
    """,
    "several parameters": """
        net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
        ps = [(net[0], "weight"), (net[1], "weight"), (net[1], "bias")]
        show = lambda: print(net[0].weight_mask, net[1].weight_mask, net[1].bias_mask)
        prune.global_unstructured(ps, pruning_method=prune.L1Unstructured, amount=0.4); show()
        prune.global_unstructured(ps, pruning_method=prune.RandomUnstructured, amount=3); show()
        prune.global_unstructured(ps, prune.L1Unstructured, importance_scores={ps[0]: torch.ones(3, 3)}, amount=1)
        show()
        attempt(lambda: prune.global_unstructured(3, prune.L1Unstructured, amount=1))
        attempt(lambda: prune.global_unstructured(ps, prune.LnStructured, amount=1, n=1))
        attempt(lambda: prune.global_unstructured(ps, prune.L1Unstructured, 3, amount=1))
        attempt(lambda: prune.global_unstructured(ps, prune.L1Unstructured, amount=100))
        print(prune.is_pruned(net), prune.is_pruned(nn.ReLU()))
        m, n = nn.Linear(4, 3), nn.Linear(4, 3)
        prune.l1_unstructured(m, "weight", 3); prune.identity(n, "weight"); print(n.load_state_dict(m.state_dict()))
        print(n(torch.ones(1, 4)), n.weight)
    """,
    "methods of one's own": """
        class Even(prune.BasePruningMethod):
            PRUNING_TYPE = "unstructured"
            def compute_mask(self, t, default_mask):
                mask = default_mask.clone(); mask.view(-1)[::2] = 0; return mask
        m = nn.Linear(4, 3); Even.apply(m, "bias"); print(m.bias_mask)
        print(Even().prune(torch.ones(4)), Even().prune(torch.ones(4), torch.tensor([0, 1, 1, 0])))
        attempt(lambda: Even().prune(torch.ones(4), importance_scores=torch.ones(3)))
        attempt(prune.BasePruningMethod)
        class Odd(Even): PRUNING_TYPE = "weird"
        m = nn.Linear(4, 3); Odd.apply(m, "bias"); attempt(lambda: Odd.apply(m, "bias"))
        class Slices(Even): PRUNING_TYPE = "structured"
        m = nn.Linear(4, 3); Slices.apply(m, "bias"); attempt(lambda: Slices.apply(m, "bias"))
        attempt(lambda: prune.L1Unstructured(3).apply_mask(m))
    """,
}
PUBLIC = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
          "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
          "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    importlib.import_module("torch.nn.utils.prune")
    program = BEGIN + PROGRAMS[name].replace("\n    ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)


def test_all_names_are_there() -> None:
    theirs = importlib.import_module("torch.nn.utils.prune")
    assert [name for name in PUBLIC if not hasattr(theirs, name)] == []
    assert sorted(retrograd.nn.utils.prune.__all__) == PUBLIC
