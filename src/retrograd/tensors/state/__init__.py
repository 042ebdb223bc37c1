"""What a tensor holds. The lowest floor: it knows no operator's call and no method."""
