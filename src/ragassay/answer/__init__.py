"""The messages that an answering model gets, and how its reply is read."""
