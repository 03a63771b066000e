"""What a process that reads files may not do."""

import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
linux = pytest.mark.skipif(sys.platform != "linux", reason="namespaces and Landlock are Linux's")


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that is confined to `folder` and limited."""
    before = f"""
        import socket, sys, time
        from pathlib import Path
        sys.path.insert(0, {str(ROOT)!r})
        from retrieval.ingestion import confinement
        confinement.limit(500 * 2**20, 1, 5, 2**20)
        confinement.confine(Path({str(folder)!r}))
    """
    script = textwrap.dedent(before) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30
    )


@linux
def test_it_writes_in_its_folder_only(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "other").write_text("kept")
    ended = run(tmp_path / "own", f"""
        Path({str(tmp_path / "own" / "a")!r}).write_text("x")
        for write in (Path.unlink, lambda path: path.write_text("x")):
            try:
                write(Path({str(tmp_path / "other")!r}))
            except PermissionError:
                print("refused")
    """)  # fmt: skip
    if ended.stdout == "" and not ended.stderr:
        pytest.skip("this kernel has no Landlock")
    assert ended.stdout == "refused\nrefused\n"
    assert (tmp_path / "own" / "a").exists()
    assert (tmp_path / "other").read_text() == "kept"


@linux
def test_it_has_no_network(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = run(tmp_path, f"""
            try:
                socket.create_connection({server.getsockname()!r}, 2)
            except OSError as error:
                print(error.errno)
        """)  # fmt: skip
    if not ended.stdout:
        pytest.skip("this container gives no namespaces")
    assert ended.stdout == "101\n"  # the network is unreachable


def test_its_memory_ends(tmp_path: Path) -> None:
    ended = run(tmp_path, "bytes(10**9)")
    assert "MemoryError" in ended.stderr


def test_its_time_ends(tmp_path: Path) -> None:
    """Waiting is counted as well."""
    assert run(tmp_path, "time.sleep(20)").returncode == -14


def test_its_time_can_be_extended(tmp_path: Path) -> None:
    ended = run(tmp_path, "confinement.extend(20); time.sleep(1.2); print('there')")
    assert ended.stdout == "there\n"


def test_its_files_end(tmp_path: Path) -> None:
    code = f"Path({str(tmp_path / 'a')!r}).write_bytes(bytes(2 * 2**20))"
    assert run(tmp_path, code).returncode == -25
    assert (tmp_path / "a").stat().st_size <= 2**20
