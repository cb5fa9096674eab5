"""The cell on the page."""
