"""What stands on a PDF's pages beside their text: fields that were filled in, and notes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import pypdfium2 as pdfium
from pypdfium2 import raw

MOST = 2000
MOST_BYTES = 100_000
FIELDS = {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}
NOTES = {raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_HIGHLIGHT}


def read(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> Iterator[str]:
    """Yield a line for each field with its value, and for each note."""
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), MOST)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            if kind == raw.FPDF_ANNOT_WIDGET and document.formenv:
                yield from _field(document.formenv, annotation)
            elif kind in NOTES:
                note = _text(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
                yield from [f"Comment: {note}"] if note else []
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _field(form: Any, annotation: Any) -> Iterator[str]:
    if raw.FPDFAnnot_GetFormFieldType(form, annotation) in FIELDS:
        value = _text(raw.FPDFAnnot_GetFormFieldValue, form, annotation)
        label = (
            _text(raw.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
            or _text(raw.FPDFAnnot_GetFormFieldName, form, annotation)
        )  # fmt: skip
        if value:
            yield f"{label}: {value}" if label else value


def _text(get: Callable[..., int], *of: Any) -> str:
    """Return a text that pdfium writes into a buffer, on one line."""
    size = get(*of, None, 0)
    if not 2 < size <= MOST_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    get(*of, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return " ".join(buffer.raw[: size - 2].decode("utf-16-le", "replace").split())
