"""Compares the speed of retrograd and PyTorch: ``python -m benchmarks``. ``--only`` measures one of the two alone."""
