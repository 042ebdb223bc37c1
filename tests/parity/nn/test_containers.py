"""Containers of modules and parameters: every method and operator, as in PyTorch."""

import pytest
import torch

import retrograd
from comparing.programs import same
from programs.running import transcript

BEGIN = """
    nn = torch.nn
    from collections import OrderedDict
    R, T, S, G = nn.ReLU, nn.Tanh, nn.Sigmoid, nn.GELU
    def names(m): return [type(x).__name__ for x in m], list(m._modules)
"""
PROGRAMS = {
    "Sequential": """
        s = nn.Sequential(R(), T()); print(names(s.insert(1, S())), names(s.insert(-1, G())), names(s.insert(4, R())))
        attempt(lambda: s.insert(9, G()))
        print(names(s.extend([R(), T()])), names(s[1:3]), names(s[::-1]), s[0], s[-1])
        for wrong in (lambda: s.extend(3), lambda: s.extend([3]), lambda: s.append(3), lambda: s["a"], lambda: s[1.0]):
            attempt(wrong)
        print(s.pop(0), names(s), s.pop(-1), names(s), names(s.pop(slice(0, 2))), names(s)); attempt(lambda: s.pop("a"))
        a, b = nn.Sequential(R(), T()), nn.Sequential(S()); print(names(a + b)); a += b; print(names(a))
        for wrong in (lambda: a + [R()], lambda: [R()] + a, lambda: a.__iadd__(3), lambda: b * 0, lambda: b * 1.5,
                      lambda: b.__imul__(0), lambda: b.__imul__("a")): attempt(wrong)
        print(names(b * 2), names(2 * b), names(b * True)); b *= 3; print(names(b))
        m = nn.Sequential(R(), T(), S()); del m[1]; print(names(m)); m[0] = G(); print(names(m))
        attempt(lambda: m.__setitem__(0, 3)); del m[0:1]; print(names(m), len(m), bool(m), bool(nn.Sequential()))
        o = nn.Sequential(OrderedDict([("a", R()), ("b", T())])); print(names(o + nn.Sequential(S())), names(o[0:1]))
        o.append(S()); print(names(o), o.a); del o[0]; print(names(o))
        for wrong in (lambda: nn.Sequential({"a": R()}), lambda: nn.Sequential(R(), 3), lambda: nn.Sequential(R())()):
            attempt(wrong)
        print(nn.Sequential()(3))
    """,
    "ModuleList": """
        l = nn.ModuleList([R(), T()]); print(names(l.append(S())), names(l.extend([G()]))); l.insert(1, R())
        print(names(l), names(l[1:]), names(l[::-1]), l[-1])
        for wrong in (lambda: l.extend(3), lambda: l.append(3), lambda: l.extend(R()), lambda: l["a"], lambda: l + 3,
                      lambda: [T()] + l, lambda: l * 2, lambda: nn.ModuleList(3), lambda: l.__setitem__(0, 3)):
            attempt(wrong)
        print(l.pop(0), names(l), names(l.pop(slice(0, 1))), names(l)); del l[0]; print(names(l)); del l[-1]
        l = nn.ModuleList([R(), T(), S(), G()]); del l[0:2]; print(names(l)); l[0] = R(); print(names(l))
        print(names(l + [T()]), names(l + nn.ModuleList([S()]))); l += [S()]; print(names(l))
        print(R() in l, l[0] in l, list(reversed(l)), l[torch.tensor(1)])
        print(nn.ModuleList(x for x in [R()]), nn.ModuleList(), nn.ModuleList([R(), None]))
        print(nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), R(), nn.Linear(1, 1)]))
        print(nn.ModuleList([nn.Sequential(R(), T()), nn.Sequential(R(), T())]))
    """,
    "ModuleDict": """
        d = nn.ModuleDict({"b": R(), "a": T()}); print(d, [*d], [*d.keys()], [*d.items()], [*d.values()], len(d))
        print("a" in d, d["a"]); d["c"] = S(); print([*d], d.pop("b"), [*d]); del d["c"]; print([*d])
        d.update([["x", R()], ["y", T()]]); d.update({"y": S(), "w": G()}); d.update(nn.ModuleDict({"q": R()}))
        print([*d], d["y"])
        for wrong in (lambda: d["z"], lambda: d[0], lambda: d.pop("b"), lambda: d.__delitem__("c"), lambda: d.update(3),
                      lambda: d.update([("a",)]), lambda: d.update({"a": 3}), lambda: d.update({"a.b": R()}),
                      lambda: d.update({1: R()}), lambda: nn.ModuleDict({"type": R()}), lambda: d | {},
                      lambda: nn.ModuleDict({"training": R()}), lambda: nn.ModuleDict(a=R())): attempt(wrong)
        d.clear(); print(d, len(d), nn.ModuleDict([("a", None)]))
    """,
    "ParameterList": """
        p = nn.ParameterList([torch.ones(1), nn.Parameter(torch.zeros(2)), 5]); print(p, len(p), [*p], p[-1], p[0:2])
        p.append(torch.ones(3)); p.extend([torch.ones(1), "x"]); p += [torch.ones(2)]; print(p, len(p))
        p[0] = torch.full((1,), 7.); print(p[0], [*p.state_dict()], p._size, [*p._parameters])
        for wrong in (lambda: p[7], lambda: p["a"], lambda: p.extend(3), lambda: p.extend(torch.ones(2)),
                      lambda: p + [1], lambda: p.__setitem__(slice(0, 1), [1])): attempt(wrong)
        print(nn.ParameterList(), nn.ParameterList(p[:1]))
        print(nn.ParameterList([torch.ones(2, 3, dtype=torch.float64), nn.Linear(1, 1), None]))
    """,
    "ParameterDict": """
        q = nn.ParameterDict({"b": torch.ones(1), "a": nn.Parameter(torch.zeros(2)), "n": 3})
        print(q, [*q], [*q.keys()], [*q.items()], [*q.values()], len(q), "a" in q, q.get("zz", 4))
        print(q.get("zz"), q.get("a"))
        print(q.setdefault("a", 1), q.setdefault("w", torch.ones(1)), q.setdefault("none"), [*q])
        print(q.popitem(), q.pop("b"), [*q]); del q["a"]; print([*q])
        q.update({"z": torch.ones(1), "y": torch.ones(1)}); q.update([("k", torch.ones(1)), ["j", 2]])
        q.update(nn.ParameterDict({"pd": torch.ones(1)})); print([*q], [*reversed(q)])
        for wrong in (lambda: q["zz"], lambda: q[0], lambda: q.pop("b"), lambda: q.pop("b", 1), lambda: q.update(3),
                      lambda: q.update([(1,)]), lambda: q.__delitem__("a"), lambda: nn.ParameterDict().popitem(),
                      lambda: nn.ParameterDict({"a": torch.ones(1, dtype=torch.int32)})): attempt(wrong)
        c = q.copy(); print(type(c), [*c], c["k"] is q["k"]); f = q.fromkeys(["a", "b"], torch.ones(1)); print(f)
        print([*(q | nn.ParameterDict({"new": torch.ones(1)}))], {"m": 1} | nn.ParameterDict({"new": 2}))
        q |= nn.ParameterDict({"o": torch.ones(1)}); print([*q]); q.clear(); print(q, len(q))
        print(nn.ParameterDict({"a": torch.ones(2, 3), "s": "x", "l": nn.ParameterList([torch.ones(1)])}))
    """,
    "clipping": """
        U = nn.utils
        def made():
            ps = [nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2, 2, dtype=torch.float64)),
                  nn.Parameter(torch.ones(1))]
            ps[0].grad, ps[1].grad = torch.tensor([3., 4.]), torch.ones(2, 2, dtype=torch.float64)
            return ps
        for order in (2, 1, 0.5, float("inf"), -float("inf"), 0, 3, "inf"):
            for foreach in (None, True, False):
                ps = made(); print(order, U.clip_grad_norm_(ps, 1.0, order, foreach=foreach), [p.grad for p in ps])
        print(U.clip_grad_norm_((p for p in made()), 1.0), U.clip_grad_norm_([], 1.0), U.get_total_norm([]))
        ps = made(); ps[0].grad[0] = float("nan")
        attempt(lambda: U.clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)); print(ps[0].grad)
        print(U.clip_grad_norm_(ps, 1.0), ps[0].grad); ps = made()
        U.clip_grads_with_norm_(ps, 1.0, torch.tensor(10.)); print([p.grad for p in ps])
        U.clip_grad_value_(ps, 0.05); print([p.grad for p in ps]); print(U.clip_grad_norm(made(), 1.0))
        attempt(lambda: U.clip_grad_norm_(made(), "a")); attempt(lambda: U.clip_grad_norm_(3, 1.0))
        h = nn.Parameter(torch.ones(2, dtype=torch.float16)); h.grad = torch.full((2,), 300., dtype=torch.float16)
        print(U.clip_grad_norm_([h], 1.0), h.grad)
        attempt(lambda: U.parameters_to_vector([])); attempt(lambda: U.vector_to_parameters(3, []))
        attempt(lambda: U.vector_to_parameters(torch.ones(1), [torch.ones(2)]))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = BEGIN + PROGRAMS[name].replace("\n    ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)


def test_random_calls_say_the_same() -> None:
    """Also on a list that has another layer beside its numbered layers, where an index is a name and no place."""
    same("containers.py", 2500, "0", "250")
