"""What is asked of a video model."""
