"""Elements and rows by index, by order and by mask."""
