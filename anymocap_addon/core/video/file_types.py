"""The kinds of files that a clip can be, by their suffixes; loads nothing, so that Blender's file browser can ask."""

from __future__ import annotations

VIDEO_SUFFIXES = (".mp4", ".mov", ".m4v", ".webm", ".mkv", ".avi", ".mpg", ".mpeg", ".ts", ".mts", ".wmv", ".gif")
# One picture of a numbered sequence stands for all of them.
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
