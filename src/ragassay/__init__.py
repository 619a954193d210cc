"""ragassay: hold the model, the questions and the judge fixed; vary only retrieval; sign every run."""

__version__ = "0.1.0"
