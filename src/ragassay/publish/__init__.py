"""The gate between finished runs and the public: scan, decisions, reading, redaction, release."""
