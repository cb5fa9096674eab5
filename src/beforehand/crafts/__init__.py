"""What Beforehand can plan for, a folder each; the rest of the package names none of them."""
