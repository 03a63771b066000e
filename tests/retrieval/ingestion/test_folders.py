"""Which files of a folder are taken."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from retrieval.ingestion.folders import Chosen, Found, expand, find


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "a.txt", "B.PDF", ".hidden.txt", ".git/config", "in/c.pdf", "in/drafts/d.pdf",
        "in/deep/e.md", "drafts/f.txt",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def names(folder: Path, chosen: Chosen) -> list[str]:
    return [found.path.relative_to(folder).as_posix() for found in find([folder], chosen)]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ((), (), ["B.PDF", "a.txt", "drafts/f.txt", "in/c.pdf", "in/deep/e.md", "in/drafts/d.pdf"]),
        (("*.pdf",), (), ["B.PDF", "in/c.pdf", "in/drafts/d.pdf"]),
        (("*.pdf", "*.md"), ("drafts/",), ["B.PDF", "in/c.pdf", "in/deep/e.md"]),
        (("in/*.pdf",), (), ["in/c.pdf"]),
        (("in/**/*.pdf",), (), ["in/c.pdf", "in/drafts/d.pdf"]),
        ((), ("in", "*.txt"), ["B.PDF"]),
        (("/a.txt",), (), ["a.txt"]),
        (("*.docx",), (), []),
    ],
)
def test_patterns(
    folder: Path, include: Sequence[str], exclude: Sequence[str], expected: list[str]
) -> None:
    assert names(folder, Chosen(include, exclude)) == expected


def test_hidden_files_are_taken_on_request(folder: Path) -> None:
    found = names(folder, Chosen(hidden=True))
    assert {".hidden.txt", ".git/config"} <= set(found)


def test_documents_stand_in_their_folders(folder: Path) -> None:
    found = {each.path.name: each.folder for each in find([folder], Chosen())}
    assert (found["a.txt"], found["e.md"]) == ("", "in/deep")


def test_links_in_a_circle_end(folder: Path) -> None:
    (folder / "in" / "up").symlink_to(folder)
    (folder / "in" / "self").symlink_to("self")
    assert len(names(folder, Chosen())) == 6


def test_link_to_a_folder_is_followed_once(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "g.txt").write_text("g")
    (folder / "one").symlink_to(outside)
    (folder / "two").symlink_to(outside)
    assert [name for name in names(folder, Chosen()) if name.endswith("g.txt")] == ["one/g.txt"]


def test_pipes_and_broken_links_are_passed_over(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    (folder / "broken.txt").symlink_to("nothing")
    assert len(names(folder, Chosen())) == 6


def test_file_that_is_named_is_taken_whatever_the_patterns(folder: Path) -> None:
    hidden = folder / ".hidden.txt"
    assert list(find([hidden], Chosen(["*.pdf"]))) == [Found(hidden)]


def test_patterns_that_the_shell_left_alone(folder: Path) -> None:
    assert [path.name for path in expand(str(folder / "*.txt"))] == ["a.txt"]
    (folder / "[x].txt").write_text("a name like a pattern")
    assert expand(str(folder / "[x].txt")) == [folder / "[x].txt"]
    assert expand(str(folder / "nothing*")) == []
