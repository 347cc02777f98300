"""Clips: what they are, their frames and times, encoding, and alignment to the reference frame."""
