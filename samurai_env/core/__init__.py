"""Code that all games share: the contract, compiled kernels, random numbers, bits, encodings."""
