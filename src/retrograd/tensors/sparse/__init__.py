"""Tensors over sparse arrays: their class, and what each public function does with them.

Nothing imports this package before a program makes the first sparse tensor. A call of a public function with a sparse
tensor goes to the function of that name in `TABLE`.
"""
