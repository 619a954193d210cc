"""Question sets of other tools, read as they are: queries, judgements and documents, and what each source lacks."""
