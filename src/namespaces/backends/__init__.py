"""torch.backends: PyTorch's numerical libraries, for programs that ask for them or set their switches.

retrograd computes with NumPy. So the answers are those of a PyTorch without these libraries. A switch that is set is
remembered and changes nothing.
"""

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized
from ..foundations.names import hint_at_missing_names

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized"]

hint_at_missing_names(__name__)
