"""Every file of a project: its schema, and reading and writing that hold the file to it."""

from .files import check_stamp, known_keys, read_json, read_npz, write_json_file, write_npz_file
from .schema import load_schema, schema_names, validate

__all__ = [
    "check_stamp",
    "known_keys",
    "load_schema",
    "read_json",
    "read_npz",
    "schema_names",
    "validate",
    "write_json_file",
    "write_npz_file",
]
