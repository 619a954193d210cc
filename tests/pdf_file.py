"""Writes small PDF files: a page of lines each, with a title, a pretended password or more pages than text."""

from __future__ import annotations

from collections.abc import Sequence


def pdf_file(pages: Sequence[str], *, title: str | None = None, encrypted: bool = False) -> bytes:
    """Return a PDF file with a page per text, its lines one below the other; an empty text is a page without any."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        lines = " ".join(f"({_escaped(line)}) Tj 0 -14 Td" for line in text.split("\n") if text)
        stream = f"BT /F1 12 Tf 72 720 Td {lines} ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    trailer = b""
    if title is not None:
        objects.append(b"<< /Title (%s) >>" % _escaped(title).encode("latin-1"))
        trailer += b" /Info %d 0 R" % len(objects)
    if encrypted:
        key = b"<" + b"7a" * 32 + b">"
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /P -4 /O %s /U %s >>" % (key, key))
        trailer += b" /Encrypt %d 0 R /ID [<00> <00>]" % len(objects)
    return _written(objects, trailer)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _written(objects: Sequence[bytes], trailer: bytes) -> bytes:
    data = b"%PDF-1.4\n"
    offsets = []
    for number, one in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table)
    return data + b"trailer\n<< /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (count, trailer, start)
