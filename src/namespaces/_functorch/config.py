"""torch._functorch.config: switches of PyTorch's compiler, which programs set. They change nothing."""

donated_buffer = False
functionalize_rng_ops = False
