"""The measurement of handing out work."""

from itertools import repeat

import pytest

from experiments.benchmark import cluster
from experiments.common.tasks import WorkerSettings


def test_workers_that_never_begin_are_said(monkeypatch):
    monkeypatch.setattr(cluster, "START_SECONDS", 0)
    monkeypatch.setattr(cluster, "results", lambda *_: (each for each in repeat((0.0, 7))))  # always the same worker
    with pytest.raises(ValueError, match="after 0 s 1 of 2 workers have begun"):
        cluster.hand_out(WorkerSettings(processes=2), 0.0, 5)
    seconds, spent = cluster.hand_out(WorkerSettings(processes=1), 0.0, 5)
    assert seconds >= 0 and spent >= 0
