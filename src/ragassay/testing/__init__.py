"""Contract suites and fakes for plugin authors, shipped in the wheel."""
