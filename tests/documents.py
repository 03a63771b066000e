"""Small files of many formats, written by hand, for what no program would write too."""

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip of these parts."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return what a part refers to: by id, the kind and the target."""
    return "<Relationships>" + "".join(
        f'<Relationship Id="{id_}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for id_, (kind, target) in targets.items()
    ) + "</Relationships>"  # fmt: skip


def docx(body: str, prolog: str = "", **others: str) -> bytes:
    """Return a Word file; others are its parts by kind, such as `styles` or `comments`."""
    namespaces = f'xmlns:w="{WORD}" xmlns:r="{RELATIONS}"'
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations({"r1": ("officeDocument", "word/document.xml")}),
        "word/_rels/document.xml.rels": relations({kind: (kind, f"{kind}.xml") for kind in others}),
        "word/document.xml": f"{prolog}<w:document {namespaces}><w:body>{body}</w:body>"
        "</w:document>",
    }
    parts |= {
        f"word/{kind}.xml": f"<w:{kind} {namespaces}>{part}</w:{kind}>"
        for kind, part in others.items()
    }
    return zipped(parts)


def paragraph(words: str, properties: str = "") -> str:
    """Return a paragraph of a Word file."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


def pptx(slides: Sequence[str], notes: Mapping[int, str] | None = None) -> bytes:
    """Return a presentation of slides, each the shapes that stand on it; notes by number."""
    namespaces = f'xmlns:p="{SLIDES}" xmlns:a="{DRAWING}" xmlns:r="{RELATIONS}"'
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in range(1, len(slides) + 1))
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations({"r1": ("officeDocument", "ppt/presentation.xml")}),
        "ppt/presentation.xml": f"<p:presentation {namespaces}><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"s{n}": ("slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1)}
        ),
    }
    for number, shapes in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {namespaces}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    for number, said in (notes or {}).items():
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(
            {"n1": ("notesSlide", f"../notesSlides/notes{number}.xml")}
        )
        parts[f"ppt/notesSlides/notes{number}.xml"] = (
            f"<p:notes {namespaces}>{shape(said, 'body')}</p:notes>"
        )
    return zipped(parts)


def shape(words: str, role: str | None = None) -> str:
    """Return a shape of a slide: a placeholder for its role, or a box; lines are paragraphs."""
    place = "" if role is None else f'<p:ph type="{role}"/>'
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in words.split("\n"))
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"


def odf(kind: str, body: str, **parts: str) -> bytes:
    """Return an OpenDocument file: `kind` is text, presentation or spreadsheet."""
    namespaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "draw", "presentation", "style")
    )
    content = (
        f"<office:document-content {namespaces}><office:body><office:{kind}>{body}"
        f"</office:{kind}></office:body></office:document-content>"
    )
    return zipped(
        {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **parts}
    )


def pdf(pages: Sequence[str], rotations: Sequence[int] = (), extra: Sequence[bytes] = ()) -> bytes:
    """Return a PDF whose pages draw these content streams; `extra` are objects from number 4 on."""
    first = 4 + len(extra)
    kids = " ".join(f"{first + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *extra,
    ]
    for number, content in enumerate(pages):
        rotation = rotations[number] if number < len(rotations) else 0
        pictures = " ".join(f"/X{n} {n} 0 R" for n in range(4, first))
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Rotate {rotation}/Contents "
            f"{first + 2 * number + 1} 0 R/Resources<</Font<</F1 3 0 R>>/XObject<<{pictures}>>"
            ">>>>".encode()
        )
        objects.append(stream(content.encode()))
    written, starts = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        starts.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    return written + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\n" % (
        len(objects) + 1, table, len(objects) + 1,
    ) + b"startxref\n%d\n%%%%EOF\n" % len(written)  # fmt: skip


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """Return a compressed stream object."""
    packed = zlib.compress(content)
    return b"<</Filter/FlateDecode/Length %d%s>>stream\n%s\nendstream" % (
        len(packed), entries, packed,
    )  # fmt: skip


def lines(texts: Sequence[str], left: int = 72, top: int = 770) -> str:
    """Return a content stream of lines of text."""
    shown = " ".join(f"({text}) Tj T*" for text in texts)
    return f"BT /F1 12 Tf 14 TL {left} {top} Td {shown} ET"


def ruled(rows: Sequence[Sequence[str]], left: int = 72, top: int = 700) -> str:
    """Return a content stream of a table with rules around its cells."""
    width, height = 100, 20
    right, bottom = left + width * len(rows[0]), top - height * len(rows)
    drawn = [f"{left} {y} m {right} {y} l S" for y in range(bottom, top + 1, height)]
    drawn += [f"{x} {bottom} m {x} {top} l S" for x in range(left, right + 1, width)]
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            x, y = left + width * column + 4, top - height * (row + 1) + 6
            drawn.append(f"BT /F1 10 Tf {x} {y} Td ({text}) Tj ET")
    return "\n".join(drawn)
