"""The test specification of a board: how it was made, scored and checked, and what it cannot show, in prose."""

from __future__ import annotations

from ragassay.site.spec.document import Document
from ragassay.site.spec.markdown import render_markdown
from ragassay.site.spec.page import render_html, spec_document, spec_files

__all__ = ["Document", "render_html", "render_markdown", "spec_document", "spec_files"]
