"""How results of two packages, or of two ways, are compared; and what is called wrongly and rightly."""
