"""Questions to be: which pages and passages they rest on, what is refused of a proposal, and worksheets for people."""
