"""Remembering what a function of a text returned, without keeping the text.

What is kept is the digest of the text and the result, so nothing that somebody said stays in
memory because a function once read it. For pure functions only.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


def remembered(size: int = 4096) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Make a function of one text remember its last results."""

    def remembering(function: Callable[[str], T]) -> Callable[[str], T]:
        known: OrderedDict[bytes, T] = OrderedDict()
        lock = threading.Lock()

        @wraps(function)
        def call(text: str) -> T:
            key = blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
            with lock:
                if key in known:
                    known.move_to_end(key)
                    return known[key]
            result = function(text)
            with lock:
                known[key] = result
                if len(known) > size:
                    known.popitem(last=False)
            return result

        return call

    return remembering
