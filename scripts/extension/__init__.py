"""How the extension's zips are made: the lock of wheels, fetching them, staging, and Blender's own build command."""
