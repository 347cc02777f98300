"""From keypoints in two views to the motion of a skeleton. Loaded by the worker alone (torch)."""
