"""A folder or archive of documentation becomes pages, chunks and digests."""
