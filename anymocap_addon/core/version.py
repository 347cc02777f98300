"""The version of AnyMoCap that files are stamped with; a test holds it equal to blender_manifest.toml."""

VERSION = "0.1.0"
