"""Logic, shifts and bit fields: and or xor not shl shr popc clz brev bfi bfe bfind bmsk szext prmt shf lop3 cnot fns."""

from reference.integer import case
from reference.kernel import Case
from reference.values import WIDTH, mask, operand_rows, to_signed

AMOUNTS = [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0x80000000, 0xFFFFFFFF]
PATTERNS = [0x8123456789ABCDEF, 0x0000000180000001, 0xFFFFFFFFFFFFFFFF]


def shift_rows(width):
    return [(pattern >> (64 - width), amount) for pattern in PATTERNS for amount in AMOUNTS]


def cases():
    yield from logic_cases()
    for t in ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"]:
        w = WIDTH[t]
        if t[0] == "b":
            yield case(
                f"shl.{t}",
                "d = a << b, 0 once b reaches the width",
                [t, "u32"],
                t,
                lambda a, b, w=w: a << b if b < w else 0,
                shift_rows(w),
            )
        yield case(
            f"shr.{t}",
            "d = a >> b, b clamped to the width",
            [t, "u32"],
            t,
            lambda a, b, w=w: a >> min(b, w),
            shift_rows(w),
        )
    for t in ("b32", "b64"):
        w = WIDTH[t]
        yield case(f"popc.{t}", "d = how many bits of a are set", [t], "u32", lambda a: a.bit_count())
        yield case(f"clz.{t}", "d = how many zeros lead a", [t], "u32", lambda a, w=w: w - a.bit_length())
        yield case(f"brev.{t}", "d = a with its bits in reverse", [t], t, lambda a, w=w: int(f"{a:0{w}b}"[::-1], 2))
    yield from field_cases()
    yield from byte_cases()
    yield from nth_cases()


def logic_cases():
    for t in ("b16", "b32", "b64"):
        w = WIDTH[t]
        yield case(f"and.{t}", "d = a & b", [t, t], t, lambda a, b: a & b)
        yield case(f"or.{t}", "d = a | b", [t, t], t, lambda a, b: a | b)
        yield case(f"xor.{t}", "d = a ^ b", [t, t], t, lambda a, b: a ^ b)
        yield case(f"not.{t}", "d = ~a", [t], t, lambda a, w=w: a ^ mask(w))
        yield case(f"cnot.{t}", "d = a == 0", [t], t, lambda a: int(a == 0))
    both = [(a, b) for a in (0, 1) for b in (0, 1)]
    for name, model in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
        yield Case(
            f"{name}.pred", f"d = a {name} b", "a:pred b:pred", "d:pred", f"{name}.pred %d, %a, %b;", both, model
        )
    yield Case("not.pred", "d = not a", "a:pred", "d:pred", "not.pred %d, %a;", [(0,), (1,)], lambda a: 1 - a)


def field_place(position, length, width):
    """Where a field lies: the 32-bit forms read the low byte of both operands, the 64-bit forms the whole operands."""
    return (position & 0xFF, length & 0xFF) if width == 32 else (position, length)


def insert_field(a, b, position, length, width):
    position, length = field_place(position, length, width)
    if length == 0 or position >= width:
        return b
    field = mask(min(length, width)) << position & mask(width)
    return b & ~field | (a << position) & field


def extract_field(a, position, length, width, is_signed):
    position, length = field_place(position, length, width)
    if length == 0:
        return 0
    sign = (a >> min(position + length - 1, width - 1)) & 1 if is_signed else 0
    kept = max(0, min(length, width - position))
    return (a >> position) & mask(kept) | (mask(width) & ~mask(kept) if sign else 0)


def find_bit(a, type_name, as_shift):
    width = WIDTH[type_name]
    if type_name[0] == "s" and a >> (width - 1):
        a ^= mask(width)
    if a == 0:
        return mask(32)
    position = a.bit_length() - 1
    return width - 1 - position if as_shift else position


def field_cases():
    places = [
        (0, 0),
        (0, 8),
        (4, 8),
        (31, 1),
        (31, 4),
        (32, 1),
        (0, 32),
        (16, 32),
        (63, 1),
        (60, 8),
        (0, 64),
        (255, 255),
        (7, 0),
        (256 + 4, 256 + 8),
        (256 + 4, 8),
        (4, 256 + 8),
        (8, 255),
    ]
    for t in ("b32", "b64"):
        w = WIDTH[t]
        special = [
            (p >> (64 - w), q >> (64 - w), *place)
            for p, q in ((PATTERNS[0], 0), (PATTERNS[2], PATTERNS[1]))
            for place in places
        ]
        rows = special + [(a, b, c % 70, d % 70) for a, b, c, d in operand_rows(f"bfi.{t}", [t, t, "u32", "u32"], 40)]
        yield Case(
            f"bfi.{t}",
            "f = b with c..c+d replaced by the low bits of a",
            f"a:{t} b:{t} c:u32 d:u32",
            f"f:{t}",
            f"bfi.{t} %f, %a, %b, %c, %d;",
            rows,
            lambda a, b, c, d, w=w: insert_field(a, b, c, d, w),
        )
    for t in ("u32", "s32", "u64", "s64"):
        w = WIDTH[t]
        special = [(p >> (64 - w), *place) for p in PATTERNS for place in places]
        rows = special + [(a, b % 70, c % 70) for a, b, c in operand_rows(f"bfe.{t}", [t, "u32", "u32"], 40)]
        yield Case(
            f"bfe.{t}",
            "d = bits b..b+c of a, extended",
            f"a:{t} b:u32 c:u32",
            f"d:{t}",
            f"bfe.{t} %d, %a, %b, %c;",
            rows,
            lambda a, b, c, w=w, s=t[0] == "s": extract_field(a, b, c, w, s),
        )
        yield case(
            f"bfind.{t}",
            "d = position of the highest bit that is not sign, or all ones",
            [t],
            "u32",
            lambda a, t=t: find_bit(a & mask(WIDTH[t]), t, False),
        )
        yield case(
            f"bfind.shiftamt.{t}",
            "d = shift that brings that bit to the top, or all ones",
            [t],
            "u32",
            lambda a, t=t: find_bit(a & mask(WIDTH[t]), t, True),
        )
    spots = [(p, n) for p in (0, 1, 16, 31, 32, 33, 255, 0xFFFFFFFF) for n in (0, 1, 15, 16, 31, 32, 33, 0xFFFFFFFF)]
    yield Case(
        "bmsk.clamp.b32",
        "d = b ones starting at bit a, both clamped to 32",
        "a:u32 b:u32",
        "d:b32",
        "bmsk.clamp.b32 %d, %a, %b;",
        spots,
        lambda a, b: mask(min(b, 32)) << min(a, 32) & mask(32),
        version="7.6",
    )
    yield Case(
        "bmsk.wrap.b32",
        "d = b ones starting at bit a, both modulo 32",
        "a:u32 b:u32",
        "d:b32",
        "bmsk.wrap.b32 %d, %a, %b;",
        spots,
        lambda a, b: mask(b & 31) << (a & 31) & mask(32),
        version="7.6",
    )
    values = [
        (v, n) for v in (0x80000000, 0x12345678, 0xFFFFFFFF, 0x00008000) for n in (0, 1, 8, 15, 16, 17, 31, 32, 33, 255)
    ]
    for mode in ("clamp", "wrap"):
        for t in ("u32", "s32"):
            yield Case(
                f"szext.{mode}.{t}",
                f"d = low b bits of a extended, b {mode}ed",
                f"a:{t} b:u32",
                f"d:{t}",
                f"szext.{mode}.{t} %d, %a, %b;",
                values,
                version="7.6",
                model=lambda a, b, mode=mode, s=t[0] == "s": extend(a, b & 31 if mode == "wrap" else min(b, 32), s),
            )


def nth_set_bit(bits, base, offset):
    """Where a GPU finds the bit: the `offset`th that is set, counted from `base` up, or down for negative ones."""
    offset = offset - (1 << 32) if offset >> 31 else offset
    if offset == -(1 << 31):
        return 0
    if base > 31:
        return mask(32)
    if offset == 0:
        return base if bits >> base & 1 else mask(32)
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [place for place in places if bits >> place & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else mask(32)


def nth_cases():
    patterns = (0, 1, 0x80000000, 0xFFFFFFFF, 0xAAAAAAAA, 0x00FF00FF, 0xDEADBEEF, 0x10000001)
    offsets = (0, 1, 2, 3, 8, 17, 32, 33, 0x7FFFFFFF, 0x80000000, *(n & mask(32) for n in (-1, -2, -3, -9, -32, -33)))
    bases = (0, 3, 15, 16, 30, 31, 32, 0xFFFFFFFF)
    yield Case(
        "fns.b32",
        "d = place of the cth bit of a that is set from bit b on, all ones if there is none",
        "a:b32 b:u32 c:s32",
        "d:b32",
        "fns.b32 %d, %a, %b, %c;",
        [(bits, base, n) for bits in patterns for base in bases for n in offsets],
        nth_set_bit,
        version="7.0",
    )


def extend(a, length, is_signed):
    low = a & mask(length)
    return to_signed(low, length) & mask(32) if is_signed and length else low


def permute(a, b, selector):
    source = a | b << 32
    out = 0
    for place in range(4):
        nibble = (selector >> 4 * place) & 0xF
        byte = (source >> 8 * (nibble & 7)) & 0xFF
        out |= (0xFF * (byte >> 7) if nibble & 8 else byte) << 8 * place
    return out


def permute_mode(a, b, c, mode):
    c &= 3
    tables = {
        "f4e": [0x3210, 0x4321, 0x5432, 0x6543],
        "b4e": [0x5670, 0x6701, 0x7012, 0x0123],
        "rc8": [0x0000, 0x1111, 0x2222, 0x3333],
        "ecl": [0x3210, 0x3211, 0x3222, 0x3333],
        "ecr": [0x0000, 0x1110, 0x2210, 0x3210],
        "rc16": [0x1010, 0x3232, 0x1010, 0x3232],
    }
    return permute(a, b, tables[mode][c])


def byte_cases():
    selectors = [0x3210, 0x7654, 0x0123, 0x0000, 0x7777, 0xFEDC, 0xBA98, 0x6420, 0x5410, 0x7632, 0x4F0C, 0xFFFF3210]
    rows = [(a, b, s) for a, b in ((0x83C24140, 0x07F685E4), (0xFFFFFFFF, 0)) for s in selectors]
    rows += operand_rows("prmt", ["b32"] * 3, 32)
    yield Case(
        "prmt.b32",
        "d = four bytes picked from b:a by the nibbles of c",
        "a:b32 b:b32 c:b32",
        "d:b32",
        "prmt.b32 %d, %a, %b, %c;",
        rows,
        permute,
    )
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        rows = [(0x83C24140, 0x07F685E4, c) for c in (0, 1, 2, 3, 4, 7)] + operand_rows(f"prmt.{mode}", ["b32"] * 3, 24)
        yield Case(
            f"prmt.b32.{mode}",
            f"d = bytes of b:a in the {mode} pattern of c",
            "a:b32 b:b32 c:b32",
            "d:b32",
            f"prmt.b32.{mode} %d, %a, %b, %c;",
            rows,
            lambda a, b, c, mode=mode: permute_mode(a, b, c, mode),
        )
    for side in ("l", "r"):
        for mode in ("wrap", "clamp"):
            rows = [(0x81234567, 0x89ABCDEF, n) for n in AMOUNTS] + operand_rows(f"shf.{side}.{mode}", ["b32"] * 3, 40)

            def model(a, b, c, side=side, mode=mode):
                n = c & 31 if mode == "wrap" else min(c, 32)
                both = a | b << 32
                return (both << n) >> 32 & mask(32) if side == "l" else both >> n & mask(32)

            yield Case(
                f"shf.{side}.{mode}.b32",
                f"d = b:a shifted {'left' if side == 'l' else 'right'} by c, {mode}ed",
                "a:b32 b:b32 c:u32",
                "d:b32",
                f"shf.{side}.{mode}.b32 %d, %a, %b, %c;",
                rows,
                model,
            )
    tables = [0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1A, 0x00, 0xFF]
    for table in tables:
        yield Case(
            f"lop3.b32.0x{table:02x}",
            f"d = the function of a, b, c with truth table 0x{table:02x}",
            "a:b32 b:b32 c:b32",
            "d:b32",
            f"lop3.b32 %d, %a, %b, %c, 0x{table:02x};",
            [(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA)] + operand_rows("lop3", ["b32"] * 3, 16),
            lambda a, b, c, table=table: look_up(a, b, c, table),
        )


def look_up(a, b, c, table):
    out = 0
    for bit in range(32):
        index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)
        out |= (table >> index & 1) << bit
    return out
