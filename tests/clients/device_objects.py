"""Writes what nvcc makes of device code, for programs that link it: fat binaries, host objects and static libraries."""

import struct

PTX, CUBIN, LTOIR = 1, 2, 8  # kinds of a fat binary's entries


def fat_binary(*entries, arch=80):
    """Of (kind, bytes) pairs."""
    body = b""
    for kind, data in entries:
        payload = data.ljust((len(data) + 7) // 8 * 8, b"\0")
        header = bytearray(64 if kind == CUBIN else 80)
        struct.pack_into("<HHIQ", header, 0, kind, 0x101, len(header), len(payload))
        struct.pack_into("<HHI", header, 24, *((8, 1) if kind == CUBIN else (0, 9)), arch)
        struct.pack_into("<Q", header, 40, 0x11)  # 64 bits, Linux
        if kind != CUBIN:  # the compiler's options: where they are told of, and there where they are; none
            struct.pack_into("<I", header, 20, 64)
            struct.pack_into("<Q", header, 64, 72)
        body += bytes(header) + payload
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def host_object(*fat_binaries, section="__nv_relfatbin"):
    """A relocatable ELF file for the host, as nvcc -rdc=true makes it: fat binaries, and a section that tells so."""
    code = b"".join(each.ljust((len(each) + 7) // 8 * 8, b"\0") for each in fat_binaries)
    wrapper = struct.pack("<IIQQ", 0x466243B1, 1, 0, 0)
    names = ["", section, ".nvFatBinSegment", ".shstrtab"]
    contents = [b"", code, wrapper, "\0".join([*names, ""]).encode()]
    out, sections = bytes(64), b""
    for i, content in enumerate(contents):
        kind, flags = (0, 0) if i == 0 else (3, 0) if i == 3 else (1, 2)
        name = len("\0".join(names[:i])) + (i > 0)
        sections += struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, len(out), len(content), 0, 0, 8, 0)
        out += content.ljust((len(content) + 7) // 8 * 8, b"\0")
    header = struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, len(out), 0, 64, 0, 0, 64, len(contents), len(contents) - 1)
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + header + out[64:] + sections


def library(**members):
    """A static library of objects, `name`.o each."""
    out = b"!<arch>\n"
    for name, content in members.items():
        out += f"{name + '.o/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content
        out += b"\n" * (len(content) % 2)
    return out
