"""Images and signals: convolution, pooling, padding, resampling."""
