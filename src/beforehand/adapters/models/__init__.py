"""Language models: providers reached through pydantic-ai, recordings, and a budget round any of them."""
