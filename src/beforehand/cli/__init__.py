"""The command line: one file per noun. It translates; it decides nothing."""
