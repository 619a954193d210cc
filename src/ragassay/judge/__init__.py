"""What a judge is shown, and how its verdict is read; a judge returns no number."""
