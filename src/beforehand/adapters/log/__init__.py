"""What every store does alike, whatever it is made of: events as bytes and back, and how it refuses."""
