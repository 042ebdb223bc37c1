"""A traced call that can be repeated.

- `recipe` says where its arrays come from, what it runs, and what it leaves behind.
- `outside` is the node of results whose gradients a program asks for later, and the backward pass that it runs.
- `second_passes` are gradients of gradients, and `partial_passes` are gradients by some of several results.
- `branches` puts back what a run has changed if a branch turns out otherwise than in the traced call.
"""
