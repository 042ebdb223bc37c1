"""torch.Tag: what a program says of an operator. `inplace` and `out` allow to return what the operator has written."""

from enum import IntEnum


class Tag(IntEnum):
    """A mark of an operator, such as `torch.Tag.inplace`."""

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace = 6
    inplace_view = 7
    maybe_aliasing_or_mutating = 8
    needs_contiguous_strides = 9
    needs_exact_strides = 10
    needs_fixed_stride_order = 11
    nondeterministic_bitwise = 12
    nondeterministic_seeded = 13
    out = 14
    out_variant = 15
    pointwise = 16
    pt2_compliant_tag = 17
    reduction = 18
    view_copy = 19

    def __str__(self) -> str:
        return f"Tag.{self.name}"


Tag.__module__ = "retrograd"
