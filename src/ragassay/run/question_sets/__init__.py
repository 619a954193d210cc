"""How question sets are made: drafted, given claims, reviewed, frozen, split; what of it asks a model or writes files."""
