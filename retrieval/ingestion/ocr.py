"""Recognising text in scanned pages and pictures with tesseract, where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import cached_property

from retrieval.ingestion import confinement, parser, pdf_pages
from retrieval.ingestion.errors import ExtractionError

PROGRAM = "tesseract"
DPI = 300
# An A4 page in 300 dpi has 8.7 million pixels.
PIXELS = 40_000_000
PAGE_SECONDS = 60
# Data of the program that is no language.
NOT_LANGUAGES = {"osd", "equ"}
MOST_LANGUAGES = 8
# Its own name for what others call by ISO 639-3.
NAMES = {"cmn": "chi_sim", "nob": "nor", "nno": "nor", "srp": "srp_latn"}
LETTERS_TO_TELL_A_LANGUAGE = 40
PICTURE = re.compile(rb"/Subtype\s*/Image\b")
MISSING = (
    "This file holds no text, only pictures (a scan, say), and text recognition (OCR) is not "
    "installed. Upload a version with a text layer, or ask your administrator to install tesseract."
)
OFF = (
    "This file holds no text, only pictures (a scan, say), and text recognition (OCR) is off. "
    "Upload a version with a text layer."
)
NOTHING = "No text could be recognised in this file."


@dataclass(frozen=True)
class Recognition:
    """Whether and how text is recognised: `auto` in pictures, `on` in anything drawn, or `off`."""

    mode: str = "off"
    languages: tuple[str, ...] = ()
    max_pages: int = 300
    seconds: float = 600


def installed() -> bool:
    """Whether there is a tesseract."""
    return shutil.which(PROGRAM) is not None


def holds_pictures(pdf: bytes) -> bool:
    """Whether there is a picture in a PDF, on any page."""
    return PICTURE.search(pdf) is not None


class Recogniser:
    """Reads the pages of one file, within its limits of pages and time."""

    def __init__(self, recognition: Recognition) -> None:
        self.recognition = recognition
        self.deadline = 0.0
        self.pages = 0
        self.only = ""

    def wanted(self, pdf: bytes) -> bool:
        """Whether pages without text of this PDF are to be looked at."""
        return self.recognition.mode == "on" or holds_pictures(pdf)

    @property
    def usable(self) -> bool:
        """Whether it is installed and not off."""
        return self.recognition.mode != "off" and installed()

    @property
    def reason(self) -> str:
        """Say why a file that holds pictures has no text."""
        if self.recognition.mode == "off":
            return OFF
        return NOTHING if installed() else MISSING

    def page(self, pdf: bytes, number: int) -> str:
        """Return the text of a page of a PDF, from 0. Raises ExtractionError."""
        return self.picture(pdf_pages.picture(pdf, number, dpi=DPI, pixels=PIXELS))

    def picture(self, picture: bytes) -> str:
        """Return the text of a picture, pages apart by form feeds. Raises ExtractionError."""
        if not self.pages:
            self.deadline = time.monotonic() + self.recognition.seconds
            confinement.extend(self.recognition.seconds)
        self.pages += 1
        if self.pages > self.recognition.max_pages:
            limit = self.recognition.max_pages
            raise ExtractionError(
                "too-large", f"Text is recognised in at most {limit} scanned pages of a file."
            )
        if self.only:
            return self._run(picture, self.only)
        text = self._run(picture, "+".join(self.languages))
        # Text comes out better by one language than by many.
        if sum(map(str.isalpha, text)) >= LETTERS_TO_TELL_A_LANGUAGE and len(self.languages) > 1:
            code = parser.language(text)
            name = NAMES.get(code, code)
            self.only = name if name in self.languages else ""
            return self._run(picture, self.only) if self.only else text
        return text

    @cached_property
    def languages(self) -> list[str]:
        """The languages asked for that are installed; if none was asked for, those there are."""
        listed = subprocess.run(
            [PROGRAM, "--list-langs"], capture_output=True, check=False, timeout=PAGE_SECONDS
        )
        names = listed.stdout.decode(errors="replace").splitlines()[1:]
        there = [name for name in names if name not in NOT_LANGUAGES and "/" not in name]
        asked = [name for name in self.recognition.languages if name in there]
        found = asked or there[:MOST_LANGUAGES]
        if not found:
            raise ExtractionError("no-text", MISSING)
        return found

    def _run(self, picture: bytes, languages: str) -> str:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise ExtractionError("timeout", "Recognising this file's text took too long.")
        try:
            ended = subprocess.run(
                [PROGRAM, "stdin", "stdout", "-l", languages],
                input=picture,
                capture_output=True,
                check=False,
                timeout=min(left, PAGE_SECONDS),
                # Its threads wait for each other more than they help.
                env=os.environ | {"OMP_THREAD_LIMIT": "1"},
            )
        except subprocess.TimeoutExpired as error:
            raise ExtractionError(
                "timeout", "Recognising this file's text took too long."
            ) from error
        if ended.returncode < 0:
            raise ExtractionError("too-large")
        if ended.returncode:
            raise ExtractionError("corrupt")
        return ended.stdout.decode(errors="replace")
