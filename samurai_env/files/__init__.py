"""Reading and writing files: all or nothing, and untrusted JSON within limits."""
