"""Compares the speed and the memory of retrograd and other packages.

- ``python -m benchmarks``: programs beside PyTorch. ``--only`` measures one of the two alone.
- ``python -m benchmarks.compiled``: compiled steps beside torch.compile and jax.jit.
- ``python -m benchmarks.growth``: growth with size, with the limits of the machine.
- ``python -m benchmarks.page``: writes the figures of all three into docs/performance.md.
"""
