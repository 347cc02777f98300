"""The two-view overlay in the 3D view."""
