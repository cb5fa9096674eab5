"""Other servers of the same installation, over HTTP."""
