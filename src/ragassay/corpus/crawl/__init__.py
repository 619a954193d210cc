"""A site becomes a crawl folder: pages as they were fetched, and everything that was left out."""
