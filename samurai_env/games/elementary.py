"""Exponential, logarithm and whole powers whose last bit is the same on every processor.

A library's `exp` and `log` round otherwise on a GPU than on a CPU, and from one C library to the next. These use
nothing but + - * / and exact scaling by powers of two, which IEEE 754 rounds in one way. The approximations are those
of Sun's fdlibm: errors stay below one unit in the last place.
"""

import numpy as np

from samurai_env.core.jit import jit

LOG2_E = 1.44269504088896338700
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # k times the first is exact
BIAS, FRACTION_BITS = 1023, 52
HALF_ROOT_BITS = 0x3FE6A09E667F3BCD  # sqrt(0.5)
LARGEST, SMALLEST = 709.0, -708.0  # beyond these `exp` would leave the normal numbers


@jit
def exp(x):
    """The exponential of `x`; 0 below -708, infinite above 709."""
    if x > LARGEST:
        return np.inf
    if x < SMALLEST:
        return 0.0
    k = np.int64(x * LOG2_E + (0.5 if x >= 0.0 else -0.5))
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    t = r * r
    c = 4.13813679705723846039e-08
    c = -1.65339022054652515390e-06 + t * c
    c = 6.61375632143793436117e-05 + t * c
    c = -2.77777777770155933842e-03 + t * c
    c = 1.66666666666666019037e-01 + t * c
    c = r - t * c
    scale = np.int64((k + BIAS) << FRACTION_BITS).view(np.float64)
    return (1.0 - ((low - r * c / (2.0 - c)) - high)) * scale


@jit
def log(x):
    """Natural logarithm of a normal number above 0; of any other a wrong number."""
    bits = np.float64(x).view(np.int64)
    k = (bits - HALF_ROOT_BITS) >> FRACTION_BITS  # x is 2 ** k times a number from sqrt(0.5) to sqrt(2)
    f = np.int64(bits - (k << FRACTION_BITS)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    c = 1.479819860511658591e-01
    c = 1.531383769920937332e-01 + z * c
    c = 1.818357216161805012e-01 + z * c
    c = 2.222219843214978396e-01 + z * c
    c = 2.857142874366239149e-01 + z * c
    c = 3.999999999940941908e-01 + z * c
    c = 6.666666666666735130e-01 + z * c
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + z * c) + k * LN2_LOW)) - f)


@jit
def power(base, exponent):
    """`base` to the power of a whole number from 0 on."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        exponent >>= 1
        base *= base
    return result
