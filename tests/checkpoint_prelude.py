"""What the programs on checkpoints in tests/parity begin with."""

# Each program begins with these: a function that says when it is run, and in which mode.
PRELUDE = """
import warnings
C = torch.utils.checkpoint
checkpoint = C.checkpoint
def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)
def said(name, function):
    def run(*args, **kwargs):
        print(name, "begins", torch.is_grad_enabled(), [a.requires_grad for a in args if torch.is_tensor(a)], kwargs)
        result = function(*args, **kwargs)
        print(name, "ends")
        return result
    return run
KINDS = [False, True]
"""
