"""`python -m ragassay`."""

from ragassay.cli import main

main()
