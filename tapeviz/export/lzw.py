"""Compress the image data of a GIF: variable-length LZW in sub-blocks (GIF89a, appendix F)."""

from __future__ import annotations

_CODE_SIZE = 8
_CLEAR, _END = 256, 257
_MOST_CODES = 4096


def compress(indices: bytes) -> bytes:
    """The image data: minimum code size, sub-blocks of at most 255 bytes, terminator."""
    # LZW codes of 9 to 12 bits, least significant bit first.
    made = bytearray()
    # The key of a known string: (code of the string without its last byte) * 256 + last byte.
    codes: dict[int, int] = {}
    width, following = _CODE_SIZE + 1, _END + 1
    held, bits = _CLEAR, width
    prefix = -1
    for index in indices:
        if prefix < 0:
            prefix = index
            continue
        key = prefix << 8 | index
        known = codes.get(key)
        if known is not None:
            prefix = known
            continue
        held |= prefix << bits
        bits += width
        if following < _MOST_CODES:
            codes[key] = following
            following += 1
            if following > 1 << width and width < 12:
                width += 1
        else:
            held |= _CLEAR << bits
            bits += width
            codes.clear()
            width, following = _CODE_SIZE + 1, _END + 1
        while bits >= 8:
            made.append(held & 255)
            held >>= 8
            bits -= 8
        prefix = index
    for code in ([prefix] if prefix >= 0 else []) + [_END]:
        held |= code << bits
        bits += width
        # The decoder adds a code after the last string, too.
        following += 1
        if following > 1 << width and width < 12:
            width += 1
    made += held.to_bytes((bits + 7) // 8, "little")
    blocks = (made[start : start + 255] for start in range(0, len(made), 255))
    return bytes([_CODE_SIZE]) + b"".join(bytes([len(b)]) + b for b in blocks) + b"\0"
