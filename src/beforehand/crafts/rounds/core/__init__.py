"""What decides in rounds and does nothing."""
