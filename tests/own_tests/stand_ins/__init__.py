"""Our `torch.testing`, and other modules that test files of PyTorch import from beside `torch`.

Everything here computes with NumPy, so that no package is the judge of its own results. A module of this folder is
imported after `serving.serve`, so `torch` is the package under test.
"""
