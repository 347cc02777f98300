"""Training pictures: what a pose looks like, and what generated video does to it."""
