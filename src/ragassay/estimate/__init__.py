"""What may be said about scores: intervals, paired tests, ranks, gaps. Pure; randomness only by seed."""
