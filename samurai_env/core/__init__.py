"""What every game shares: the contract, compiled loops, random numbers, bits, encodings."""
