"""Measures retrograd against PyTorch: ``python -m benchmarks``. Needs both; see ``--help`` for one of them alone."""
