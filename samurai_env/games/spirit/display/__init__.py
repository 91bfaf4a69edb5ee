"""Pictures and text of Samurai Spirit; not part of the compiled sources."""
