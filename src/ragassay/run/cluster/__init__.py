"""A run over many machines: workers on a Ray cluster ask the questions, this process plans, journals and signs.

Nothing here imports Ray before a cluster is joined.
"""
