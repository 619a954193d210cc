"""People rate stored answers: what they are asked about, what they said, and what that says of a judge."""

from __future__ import annotations

from ragassay.site.calibration.files import load_report
from ragassay.site.calibration.load import load_material, load_ratings, prepare_sample, write_report
from ragassay.site.calibration.material import Material

__all__ = ["Material", "load_material", "load_ratings", "load_report", "prepare_sample", "write_report"]
