"""Elasticsearch and OpenSearch: what both share, and what each has of its own."""
