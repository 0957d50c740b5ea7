"""Another interpreter or other limits: what becomes of the run there is, and of its pool."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.app.processes.live import LivePipeline
from tapeviz.app.processes.pools import Pools
from tapeviz.app.storage.settings import Settings
from tapeviz.app.window import Window
from tapeviz.document import Document
from tapeviz.kernel import Confinement, KernelPool, PoolStatus, own_interpreter
from tests.document.sample import make_stages

OTHER = Confinement(no_network=False, memory=4.0)


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pools]:
    """Pools that start no process."""
    monkeypatch.setattr(KernelPool, "warm", lambda pool: None)
    made = Pools(own_interpreter())
    yield made
    made.close()


def _is_closed(pool: KernelPool) -> bool:
    return pool.status.state == "closed"


def test_a_pool_without_runs_is_closed_when_another_is_chosen(qtbot: QtBot, pools: Pools) -> None:
    former = pools.pool
    pools.choose(pools.choice, OTHER)
    qtbot.waitUntil(lambda: _is_closed(former))


def test_a_pool_with_a_run_stays_until_the_next_one(
    qtbot: QtBot, pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, reported = pools.pool, list[PoolStatus]()
    monkeypatch.setattr(KernelPool, "is_in_use", property(lambda pool: pool is former))
    pools.report_to(reported.append)
    reported.clear()
    pools.choose(pools.choice, OTHER)
    pools.choose(pools.choice, Confinement())  # the one between has no run
    assert not _is_closed(former)
    assert former._is_resting
    pools.close_former()
    qtbot.waitUntil(lambda: _is_closed(former))
    assert not reported  # what becomes of it is not shown as the state of the present one
    pools.pool._notify(PoolStatus("starting"))
    assert reported == [PoolStatus("starting")]


def test_new_limits_stop_no_run_and_say_when_they_hold(
    qtbot: QtBot, pools: Pools, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = LivePipeline(pools)
    window = Window(Document(pipeline, make_stages()), settings, pipeline)
    qtbot.addWidget(window)
    stops = list[str]()
    monkeypatch.setattr(window.document, "stop", lambda: stops.append("stopped"))
    monkeypatch.setattr(Document, "is_running", property(lambda document: True))
    pools.pool._notify(PoolStatus("ready"))
    window.kernels.limit(OTHER)
    assert not stops
    assert window.document.trouble == "From the next run on: 4 GB"
    window.kernels.limit(Confinement())  # the pool is not ready: a run may wait for it
    assert stops
