"""``make soak`` fails if anything in it failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak import __main__ as soak

GOOD = "print('@@ kills | 1,200 | 0 | -', flush=True)\n"


@pytest.mark.parametrize(
    ("script", "status", "last_row"),
    [
        (GOOD, 0, "| kills | 1,200 | 0 | - |"),
        ("print('@@ kills | 1,200 | 1 | lost')\n", 1, "| kills | 1,200 | 1 | lost |"),
        (f"{GOOD}raise ValueError", 1, "| part | 1 | 1 | it ended with status 1 |"),
        ("print('nothing to say')", 1, "| part | 1 | 1 | it printed no row |"),
        (f"{GOOD}import time; time.sleep(60)", 1, "| part | 1 | 1 | not over after 0.5 s |"),
    ],
)
def test_a_row_that_failed_or_a_part_that_did_not_end_well_fails(
    script: str,
    status: int,
    last_row: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "soak_part.py").write_text(script)
    monkeypatch.setattr(soak, "HERE", tmp_path)
    monkeypatch.setattr(soak, "LONGEST", 0.5 if "sleep" in script else 60)
    assert soak.main(["part"]) == status
    assert capsys.readouterr().out.splitlines()[-1] == last_row
