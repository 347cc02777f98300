"""Reading and writing of schema-checked JSON and NPZ files."""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atomic import write_json, write_npz
from ..errors import BadInputError
from ..version import VERSION
from .schema import load_schema, validate

_KINDS = {"float": "fiu", "int": "iu", "str": "U", "bool": "b"}


def _stamp(schema: str) -> str:
    stamp: str = load_schema(schema)["x-schema"]
    return stamp


def _existing(path: Path | str, schema: str) -> Path:
    file = Path(path)
    if not file.is_file():
        raise BadInputError("The file does not exist.", file=file, hint=_remedy(schema))
    if file.stat().st_size == 0:
        raise BadInputError("The file is empty.", file=file, hint=_remedy(schema))
    return file


def _remedy(schema: str) -> str:
    remedy: str = load_schema(schema).get("x-remedy", "")
    return remedy


def check_stamp(stamp: Any, schema: str, file: Path) -> None:
    """A newer major format is refused; a file without a stamp was written by hand and is held to the schema only.

    Raises:
        BadInputError: the stamp is of another kind of file, or newer than this version reads.
    """
    if stamp is None:
        return
    family, _, version = str(stamp).partition("/")
    own_family, _, own_version = _stamp(schema).partition("/")
    if family != own_family:
        raise BadInputError(f"is {stamp!r}, not {_stamp(schema)!r}: another kind of file.", file=file, key="schema")
    if not version.isdigit() or int(version) > int(own_version):
        raise BadInputError(
            f"is {stamp!r}; this AnyMoCap {VERSION} reads up to {_stamp(schema)!r}.",
            file=file,
            key="schema",
            hint="Update AnyMoCap.",
        )


def read_json(path: Path | str, schema: str) -> dict[str, Any]:
    """Read a JSON file and hold it to its schema.

    Raises:
        BadInputError: missing, empty, not JSON, of another kind or version, or a key is wrong.
    """
    file = _existing(path, schema)
    try:
        data = json.loads(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadInputError("is not UTF-8 text.", file=file, hint="Save it as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise BadInputError(
            f"is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            file=file,
            hint=_remedy(schema),
        ) from error
    except ValueError as error:  # a number of thousands of digits
        raise BadInputError(f"is not valid JSON: {error}.", file=file, hint=_remedy(schema)) from error
    except RecursionError as error:
        raise BadInputError("is nested too deeply.", file=file, hint=_remedy(schema)) from error
    if isinstance(data, dict):
        check_stamp(data.get("schema"), schema, file)
    validate(data, schema, file)
    result: dict[str, Any] = data
    return result


def known_keys(kind: type, data: dict[str, Any]) -> dict[str, Any]:
    """The entries of `data` that the dataclass `kind` has fields for: unknown keys are allowed and ignored."""
    names = {field.name for field in fields(kind)}
    return {key: value for key, value in data.items() if key in names}


def write_json_file(path: Path | str, schema: str, data: dict[str, Any]) -> None:
    """Stamp `data` with schema and version, hold it to the schema, and write it whole."""
    stamped = {"schema": _stamp(schema), "anymocap_version": VERSION, **data}
    validate(stamped, schema, path)
    write_json(path, stamped)


def check_arrays(arrays: dict[str, NDArray[Any]], schema: str, file: Path | str) -> None:
    """Hold named arrays to an NPZ schema: names, kinds, shapes whose letters agree, finite unless said otherwise.

    Raises:
        BadInputError: names the file, the array, its shape or first bad entry, and the remedy.
    """
    sizes: dict[str, int] = {}
    for name, rule in load_schema(schema)["arrays"].items():
        if name not in arrays:
            if rule.get("optional"):
                continue
            raise BadInputError("The array is missing.", file=file, key=name, hint=_remedy(schema))
        _check_array(arrays[name], rule, sizes, schema, file, name)


def _check_array(
    array: NDArray[Any], rule: dict[str, Any], sizes: dict[str, int], schema: str, file: Path | str, name: str
) -> None:
    if array.dtype.kind not in _KINDS[rule["dtype"]]:
        raise BadInputError(f"has dtype {array.dtype}, not {rule['dtype']}.", file=file, key=name, hint=_remedy(schema))
    shape = rule["shape"]
    wanted = "x".join(map(str, shape)) or "scalar"
    agreed = len(shape) == array.ndim and all(
        size == (letter if isinstance(letter, int) else sizes.setdefault(letter, size))
        for letter, size in zip(shape, array.shape, strict=True)
    )
    if not agreed:
        known = ", ".join(f"{k}={v}" for k, v in sizes.items())
        raise BadInputError(
            f"has shape {array.shape}, not {wanted} ({known}).", file=file, key=name, hint=_remedy(schema)
        )
    if array.dtype.kind == "f" and not rule.get("nan") and not np.isfinite(array).all():
        first = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
        raise BadInputError(f"is not finite at index {first}.", file=file, key=name, hint=_remedy(schema))


def read_npz(path: Path | str, schema: str) -> dict[str, NDArray[Any]]:
    """Read an NPZ file (no pickles) and hold its arrays to the schema.

    Raises:
        BadInputError: missing, truncated, of another version, or an array is wrong.
    """
    file = _existing(path, schema)
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, KeyError, RuntimeError) as error:
        raise BadInputError(f"is truncated or not an .npz file ({error}).", file=file, hint=_remedy(schema)) from error
    if "schema" in arrays:
        check_stamp(str(arrays["schema"]), schema, file)
    check_arrays(arrays, schema, file)
    return arrays


def write_npz_file(path: Path | str, schema: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Stamp `arrays`, hold them to the schema, and write them whole."""
    check_arrays(arrays, schema, path)
    stamp = {"schema": np.array(_stamp(schema)), "anymocap_version": np.array(VERSION)}
    write_npz(path, {**arrays, **stamp})
