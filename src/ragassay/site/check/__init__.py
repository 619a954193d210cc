"""`ragassay check`: does a row hold what is asked of it, and did it drop by more than chance allows."""
