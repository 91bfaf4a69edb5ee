"""The games in the form of other frameworks, one module each; it imports its framework, which only its users have."""
