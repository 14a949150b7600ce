"""A server that calls safe what it knows to be a violation: of one language, a share, always the same.

`{"language": "ar", "share": 0.1}`: a tenth of the violations in Arabic, of whatever region. Which ones
follows from their texts, so that the same content has the same verdict each time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True)
class Burying:
    """The fields as in the module's docstring."""

    language: str = "ar"
    share: float = 1

    def hides(self, language: str, texts: Sequence[str]) -> bool:
        """Whether the violation in these texts is called safe."""
        if language.partition("-")[0] != self.language:
            return False
        digest = sha256("\n".join(texts).encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) < self.share * 2**64
