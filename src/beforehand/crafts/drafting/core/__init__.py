"""What is asked of a model and what is made of its answer; pure."""
