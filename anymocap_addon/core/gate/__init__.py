"""The source gate: is a clip worth a reader's minute? Each check is a file; limits.py holds what they allow."""
