"""The one loop every craft runs on: inputs in, one decision at a time, durable, then carried out."""
