"""The calls under `/api/v1`, one file per noun."""
