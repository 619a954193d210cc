"""A finished pass becomes signed files; the encoding is pure."""
