"""Vector environments on a CUDA card: the rules of the CPU, compiled for the card by numba-cuda."""
