"""Runs PyTorch's own tests with retrograd, and counts those that pass. `make own` does so.

The tests are those of PyTorch 1.13.1, the last release whose tests are few files that need little else. They are
fetched when the target runs, and read where they lie: nothing of them is part of this project. A test counts if the
PyTorch that `make parity` installs passes it, too.

`serving` makes `import torch` mean a package, `stand_ins` are our `torch.testing` and what tests import from beside it,
`worker` runs tests in a process of its own, `running` starts workers anew after a crash, and `page` writes the scores.
"""
