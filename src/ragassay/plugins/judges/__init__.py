"""Judges that need no other stage, one file each."""
