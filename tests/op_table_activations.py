"""Entries for the functions that make a network bend."""

from __future__ import annotations

from op_table_entry import INFINITE, ONE, Entry, functional

_SMOOTH = [
    Entry(name, functional(name), points=(0.0, *INFINITE))
    for name in ["silu", "mish", "logsigmoid", "softplus", "softsign", "tanhshrink", "gelu"]]
_BENT = [
    Entry(name, functional(name), low=0.1, points=(0.0, -0.0, 1.0, -1.0, 6.0, *INFINITE))
    for name in ["relu", "relu6", "leaky_relu", "elu", "celu", "selu", "hardtanh"]]

ACTIVATIONS = [
    *_SMOOTH,
    *_BENT,
    Entry("gelu tanh", functional("gelu", approximate="tanh"), points=(0.0, *INFINITE)),
    Entry("softplus 2", functional("softplus", beta=2, threshold=1.0), high=0.4, points=(0.5, 1.0)),
    Entry("leaky_relu below", functional("leaky_relu", 0.2), high=-0.1),
    Entry("elu below", functional("elu", 1.5), high=-0.1, points=(0.0,)),
    Entry("celu below", functional("celu", 0.5), high=-0.1, points=(0.0,)),
    Entry("selu below", functional("selu"), high=-0.1, points=(0.0,)),
    Entry("hardtanh 0 2", functional("hardtanh", 0.0, 2.0), low=0.1, high=1.9, points=(0.0, 2.0)),
    *(Entry(f"{name} over", lambda t, x, name=name: getattr(t.nn.functional, name)(x.clone(), inplace=True), ONE,
            low=0.1, points=(0.0, -0.0, 1.0, -1.0, *INFINITE))
      for name in ["relu", "relu6", "leaky_relu", "elu", "celu", "selu", "hardtanh", "silu", "mish"]),
    *(Entry(f"{name} over below", lambda t, x, name=name: getattr(t.nn.functional, name)(x.clone(), inplace=True), ONE,
            high=-0.1) for name in ["leaky_relu", "elu", "celu", "selu"]),
]
