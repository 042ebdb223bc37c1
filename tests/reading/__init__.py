"""Reading the source of retrograd: what its functions do with the arrays that they are given."""
