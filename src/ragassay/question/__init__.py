"""Question files in every accepted form become one benchmark record, linted and hashed."""
