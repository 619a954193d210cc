"""The pictures of a board: drawn at build time by a chart library, each with its numbers in words and as a table."""

from ragassay.site.pictures.costs import cost_latency
from ragassay.site.pictures.differences import difference_plot
from ragassay.site.pictures.heat import HeatMap, heat_map
from ragassay.site.pictures.over_time import runs_over_time
from ragassay.site.pictures.picture import Picture, Twin
from ragassay.site.pictures.reach import ReachCurve, reach_curve, reach_curves
from ragassay.site.pictures.scores import score_picture

__all__ = [
    "HeatMap",
    "Picture",
    "ReachCurve",
    "Twin",
    "cost_latency",
    "difference_plot",
    "heat_map",
    "reach_curve",
    "reach_curves",
    "runs_over_time",
    "score_picture",
]
