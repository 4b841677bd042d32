"""Canonical JSON: one value, one byte string.

The contract, on which hashes and signatures rest: UTF-8, keys sorted by code point, no white
space, no escapes beyond those JSON demands, no NaN or infinity, every key a string. Integers and
strings are the normal diet; a float is written as Python's shortest round-trip form.
"""

import json


def canonical_json(value: object) -> bytes:
    """Return the one byte string that stands for `value`."""
    _require_string_keys(value)
    return _encode(value).encode()


def _encode(value: object) -> str:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _require_string_keys(value: object) -> None:
    # json.dumps would quietly turn {1: …} and {"1": …} into the same bytes.
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"canonical JSON needs string keys, not {key!r}")
            _require_string_keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            if not isinstance(item, str):  # most lists are long and hold hashes
                _require_string_keys(item)
