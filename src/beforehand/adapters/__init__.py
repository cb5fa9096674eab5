"""One folder per outside thing. Adapters translate and keep the promises of `ports/`; they take no decisions."""
