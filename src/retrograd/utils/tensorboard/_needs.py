"""Says what to install if the package `tensorboard` is missing."""

try:
    import tensorboard as tensorboard
except ImportError as error:
    raise ImportError("TensorBoard logging requires the package tensorboard. Install it with: "
                      "pip install tensorboard pillow") from error
