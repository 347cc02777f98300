"""Stages as data, job folders, the worker process and its protocol. Never imports bpy, torch or cv2."""
