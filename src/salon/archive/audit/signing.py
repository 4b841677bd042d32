"""The key that signs the head of the audit chain and what Salon publishes (Ed25519).

The private key lives beside the archive, not inside it: whoever can change the file but not read
the key cannot make a shortened or rewritten log look whole.
"""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from salon.core.canonical import canonical_json
from salon.core.errors import InvalidSettings
from salon.core.events import Checkpoint
from salon.core.hashing import content_hash


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs checkpoints and published records; `key` is the public half, in hex."""

    private: Ed25519PrivateKey
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.private.public_key().public_bytes_raw().hex())

    def signed(self, seq: int, head: str) -> Checkpoint:
        """Return the checkpoint for one head of the chain, signed."""
        signature = self.private.sign(_message(seq, head)).hex()
        return Checkpoint(seq=seq, hash=head, key=self.key, signature=signature)

    def sign(self, purpose: str, content: bytes) -> str:
        """Return a signature of `content`, in hex, that is good for this purpose alone."""
        return self.private.sign(_content_message(purpose, content)).hex()


def is_signed_by(checkpoint: Checkpoint, key: str) -> bool:
    """Tell whether `checkpoint` carries a valid signature of the public `key`."""
    if checkpoint.signature is None:
        return False
    return _is_valid(_message(checkpoint.seq, checkpoint.hash), key, checkpoint.signature)


def is_signature_of(purpose: str, content: bytes, *, key: str, signature: str) -> bool:
    """Tell whether `signature` was made by the public `key` for this purpose and content."""
    return _is_valid(_content_message(purpose, content), key, signature)


def _is_valid(message: bytes, key: str, signature: str) -> bool:
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def load_or_make_signer(path: Path) -> Signer:
    """Read the key at `path`, or make one that only its owner can read."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_new(path, Ed25519PrivateKey.generate().private_bytes_raw().hex())
    return load_signer(path)


def load_signer(path: Path) -> Signer:
    """Read the key at `path`."""
    try:
        return Signer(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text("ascii"))))
    except (ValueError, OSError) as error:
        raise InvalidSettings(
            f"{path} does not hold a signing key that can be read",
            hint="restore it from a copy; a new key cannot vouch for what the old one signed",
        ) from error


def _write_new(path: Path, text: str) -> None:
    # Two processes may start at once: each writes its own file, the first link wins.
    mine = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        path.hardlink_to(mine)
    except FileExistsError:
        pass
    finally:
        mine.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # or a power cut could take the name and leave what it signed
    finally:
        os.close(folder)


def _message(seq: int, head: str) -> bytes:
    return canonical_json({"salon": "audit-checkpoint", "seq": seq, "hash": head})


def _content_message(purpose: str, content: bytes) -> bytes:
    # What a checkpoint signs has other fields, so neither can pass for the other.
    return canonical_json({"salon": purpose, "content_sha256": content_hash(content)})
