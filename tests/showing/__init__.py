"""Pages of documentation and their pictures: what they show is executed."""
