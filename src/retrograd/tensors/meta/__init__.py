"""Tensors on the device `meta`: they have a shape, a dtype and strides, but no memory and no numbers.

Nothing imports this package before a program first names the device. A call of a public function with such a tensor
runs as any call, while `inference.infer` stands on the seam of the thread.
"""
