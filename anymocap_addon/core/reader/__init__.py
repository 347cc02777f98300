"""The reader: a network that finds the creature's joints in both views of a frame."""
