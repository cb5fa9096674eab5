"""The fleet on the page."""
