"""Elements and rows by index, order and mask."""
