"""Domain logic of AnyMoCap. Nothing below this package imports bpy."""
