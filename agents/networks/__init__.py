"""Policy and value networks: form, layers, inputs, files, and the agent that plays by one."""
