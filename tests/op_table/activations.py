"""Entries for the functions that make a network bend."""

from __future__ import annotations

from op_table.entry import INFINITE, Entry, each, functional

ACTIVATIONS = [
    *each("silu mish logsigmoid softplus softsign tanhshrink gelu", "", lambda f, x: f(x), points=(0.0, *INFINITE)),
    *each("relu relu6 leaky_relu elu celu selu hardtanh", "", lambda f, x: f(x), low=0.1,
          points=(0.0, -0.0, 1.0, -1.0, 6.0, *INFINITE)),
    Entry("gelu tanh", functional("gelu", approximate="tanh"), points=(0.0, 3e38, -3e38, *INFINITE)),
    Entry("softplus 2", functional("softplus", beta=2, threshold=1.0), high=0.4, points=(0.5, 1.0)),
    Entry("leaky_relu below", functional("leaky_relu", 0.2), high=-0.1),
    Entry("elu below", functional("elu", 1.5), high=-0.1, points=(0.0,)),
    Entry("celu below", functional("celu", 0.5), high=-0.1, points=(0.0,)),
    Entry("selu below", functional("selu"), high=-0.1, points=(0.0,)),
    Entry("hardtanh 0 2", functional("hardtanh", 0.0, 2.0), low=0.1, high=1.9, points=(0.0, 2.0)),
    *each("relu6 leaky_relu elu celu selu hardtanh mish", " over", lambda f, x: f(x.clone(), inplace=True),
          low=0.1, points=(0.0, -0.0, 1.0, -1.0, *INFINITE)),
    Entry("silu over", lambda t, x: t.nn.functional.silu(x.clone(), inplace=True), points=(0.0, *INFINITE),
          apart={"c": "PyTorch's gradient lacks a conjugate; it is refused here, as that of silu is by both"}),
    *each("leaky_relu elu celu selu", " over below", lambda f, x: f(x.clone(), inplace=True), high=-0.1),
]
