"""What every game shares: the contract, compiled kernels, random numbers, bits, encodings."""
