"""Says what to install if the package `tensorboard` is absent. The modules that use the package come later."""

from ...extras import imported

imported("tensorboard", "torch.utils.tensorboard needs")
