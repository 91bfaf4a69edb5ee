"""Ctrl-C, where it counts and where it is ignored."""

import signal

import pytest

from experiments.common.interrupts import Interrupt


@pytest.mark.parametrize("before", [signal.SIG_IGN, signal.default_int_handler])
def test_it_stays_ignored_where_it_was(before):
    kept = signal.signal(signal.SIGINT, before)
    try:
        with Interrupt() as interrupt:
            signal.raise_signal(signal.SIGINT)
            assert interrupt.asked == (before is not signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.signal(signal.SIGINT, kept)
