"""Where the site keeps what it writes, and the key it keeps there."""

import stat
from pathlib import Path

import pytest

from ragsite import secret, state


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGSITE_STATE", raising=False)


def test_state_is_kept_inside_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(state, "is_root", lambda: False)
    assert state.state_dir(tmp_path) == tmp_path / "var"


def test_root_below_a_closed_folder_keeps_it_elsewhere_one_folder_a_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(state, "is_root", lambda: True)
    tmp_path.chmod(0o700)
    one, two = state.state_dir(tmp_path / "a" / "site"), state.state_dir(tmp_path / "b" / "site")
    assert one.parent == two.parent == Path("/var/lib/ragsite")
    assert one != two


def test_ragsite_state_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAGSITE_STATE", str(tmp_path / "here"))
    assert state.state_dir(tmp_path) == tmp_path / "here"


def test_the_secret_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    key = secret.key(tmp_path)
    assert len(key) >= 50
    assert secret.key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_of_two_processes_that_make_the_key_the_first_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slower() -> str:
        (tmp_path / "secret_key").write_text("the first")
        return "the second"

    monkeypatch.setattr(secret, "get_random_secret_key", slower)
    assert secret.key(tmp_path) == "the first"


def test_a_linked_folder_is_the_one_it_leads_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Or a server that runs would be taken for one that does not."""
    monkeypatch.setattr(state, "is_root", lambda: False)
    (tmp_path / "kept").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "var").symlink_to(tmp_path / "kept")
    assert state.state_dir(tmp_path / "site") == tmp_path / "kept"
