"""How question sets are made: drafted, given claims, reviewed, frozen, split; with all files and models that takes."""
