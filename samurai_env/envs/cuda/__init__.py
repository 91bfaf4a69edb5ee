"""Vector environments on a CUDA GPU: the rules of the CPU, compiled for the GPU by numba-cuda."""
