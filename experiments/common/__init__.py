"""Code that several programs share: command line, provenance, worker processes, Markdown."""
