"""Lets `import torch` mean the package under test in each Python that a test starts."""

import importlib
import os

_package = os.environ.get("OWN_TESTS_PACKAGE", "torch")
if _package != "torch":
    importlib.import_module(_package).as_torch()
