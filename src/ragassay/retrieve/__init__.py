"""The one checked door between the runner and a stack."""
