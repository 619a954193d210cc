"""The pytest plugin: a fixture that fails a test with the questions that got worse. Light: pytest loads it always."""
