"""Short programs to read and to copy."""
