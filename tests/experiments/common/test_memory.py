"""Freed memory that stays with the process."""

import platform
import subprocess
import sys

import pytest

CODE = """
import resource
import numpy as np
from experiments.common.memory import keep_freed_memory

def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        np.ones(40 << 20, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

before = pages()
keep_freed_memory()
pages()
print(before, pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do as they like")
def test_the_kernel_is_not_asked_again_for_what_was_freed():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before >= 100
    assert after < before / 10
