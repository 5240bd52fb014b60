"""Whole programs of integers, bytes and graphs (programs/*.cu) against NumPy and hashlib, on the driver in use."""

import hashlib
import zlib

import numpy as np
import pytest
from device_program import DeviceProgram

RANDOM = np.random.default_rng


@pytest.fixture
def program(device, stream):
    return lambda name: DeviceProgram(name, device, stream)


def random_graph(nodes, edges, seed):
    """Directed edges as compressed rows: starts and neighbours."""
    rows = np.sort(RANDOM(seed).integers(0, nodes, edges))
    starts = np.searchsorted(rows, np.arange(nodes + 1)).astype(np.int32)
    return starts, RANDOM(seed + 1).integers(0, nodes, edges).astype(np.int32)


def test_bitonic_sort(program):
    n = 2048
    values = RANDOM(1).integers(-(10**6), 10**6, n).astype(np.int32)
    p = program("bitonic_sort")
    data = p.put(values)
    size = 2
    while size <= n:
        distance = size // 2
        while distance >= 256:
            p.run("exchange", n // 256, 256, data, distance, size)
            distance //= 2
        p.run("exchange_in_block", n // 256, 256, data, distance, size, shared=1024)
        size *= 2
    np.testing.assert_array_equal(p.get(data), np.sort(values))


def test_radix_sort(program):
    n, blocks = 5000, 20
    keys = RANDOM(2).integers(0, 2**32, n, dtype=np.uint32)
    p = program("radix_sort")
    here, there, counts = p.put(keys), p.zeros(n, np.uint32), p.zeros(16 * blocks, np.uint32)
    for shift in range(0, 32, 4):
        p.run("count", blocks, 256, here, counts, n, shift)
        p.run("prefix", 1, 1, counts, 16 * blocks)
        p.run("place", blocks, 256, here, there, counts, n, shift)
        here, there = there, here
    np.testing.assert_array_equal(p.get(here), np.sort(keys))


def test_prefix_sums(program):
    values = RANDOM(3).integers(-1000, 1000, 16 * 256).astype(np.int32)
    p = program("scan")
    out, sums, starts, none = (p.zeros(n, np.int32) for n in (values.size, 16, 16, 1))
    p.run("scan_block", 16, 128, p.put(values), out, sums, shared=1024)
    p.run("scan_block", 1, 8, sums, starts, none, shared=64)
    p.run("add_sums", 16, 256, out, starts)
    np.testing.assert_array_equal(p.get(out), np.cumsum(values) - values)


@pytest.mark.parametrize("kernel", ["by_atomics", "by_tree", "by_shuffles", "by_redux", "by_last_block"])
def test_sum_of_an_array(program, kernel):
    values = RANDOM(4).integers(-1000, 1000, 10007).astype(np.int32)
    p = program("reduction")
    total = p.zeros(1, np.int32)
    more = [p.zeros(6 * 8, np.int32)] if kernel == "by_last_block" else []
    p.run(kernel, 6, 256, p.put(values), *more, total, values.size)
    assert p.get(total)[0] == values.sum()


def test_breadth_first_search(program):
    nodes = 700
    starts, neighbours = random_graph(nodes, 1500, 5)
    p = program("bfs")
    levels, queues = (
        p.put(np.where(np.arange(nodes) == 0, 0, -1).astype(np.int32)),
        [p.zeros(nodes, "i4") for _ in "ab"],
    )
    graph = p.put(starts), p.put(neighbours)
    size, level = 1, 0
    while size:
        level += 1
        next_size = p.zeros(1, np.int32)
        p.run("expand", (size + 63) // 64, 64, *graph, levels, queues[0], size, queues[1], next_size, level)
        size = int(p.get(next_size)[0])
        queues.reverse()
    want, frontier, level = {0: 0}, [0], 0
    while frontier:
        level += 1
        reached = {int(m) for node in frontier for m in neighbours[starts[node] : starts[node + 1]]} - want.keys()
        want |= dict.fromkeys(reached, level)
        frontier = list(reached)
    assert p.get(levels).tolist() == [want.get(node, -1) for node in range(nodes)]


def philox(seed, count):
    """Philox 4x32-10 of the counters 0, 1, ... as an array of four words each."""
    words = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    keys, low, shift = [seed, 0], np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        first, third = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        k = [np.uint64(key) for key in keys]
        words = [(third >> shift) ^ words[1] ^ k[0], third & low, (first >> shift) ^ words[3] ^ k[1], first & low]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(words, 1).astype(np.uint32)


def test_random_numbers(program):
    p = program("philox")
    out = p.zeros((1000, 4), np.uint32)
    p.run("generate", 8, 128, out, 77, 1000)
    np.testing.assert_array_equal(p.get(out), philox(77, 1000))


def test_pi_by_throwing_darts(program):
    p = program("philox")
    hits = p.zeros(1, np.uint64)
    p.run("throw_darts", 4, 128, hits, 5, 5000)
    darts = philox(5, 5000).reshape(-1, 2) * 2.0**-32
    assert p.get(hits)[0] == ((darts**2).sum(1) < 1).sum()


@pytest.fixture
def picture():
    y, x = np.mgrid[:67, :90]
    return (
        (128 + 90 * np.sin(x / 7) * np.cos(y / 5) + RANDOM(6).integers(-30, 30, x.shape)).clip(0, 255).astype(np.uint8)
    )


def around(picture, reach=1):
    """The picture shifted by each (dy, dx) within reach, beyond its rim the rim."""
    pad = np.pad(picture.astype(int), reach, "edge")
    h, w, places = *picture.shape, range(2 * reach + 1)
    return np.array([[pad[dy : dy + h, dx : dx + w] for dx in places] for dy in places])


def filtered(p, kernel, picture):
    out = p.zeros(picture.shape, np.uint8)
    p.run(kernel, (6, 9), (16, 8), p.put(picture), out, picture.shape[1], picture.shape[0])
    return p.get(out)


def test_median_filter(program, picture):
    want = np.median(around(picture).reshape(9, *picture.shape), axis=0)
    np.testing.assert_array_equal(filtered(program("image"), "median", picture), want)


def test_edges(program, picture):
    n = around(picture)
    across = n[0, 2] + 2 * n[1, 2] + n[2, 2] - n[0, 0] - 2 * n[1, 0] - n[2, 0]
    down = n[2, 0] + 2 * n[2, 1] + n[2, 2] - n[0, 0] - 2 * n[0, 1] - n[0, 2]
    np.testing.assert_array_equal(filtered(program("image"), "sobel", picture), (abs(across) + abs(down)).clip(0, 255))


def test_separable_blur_with_constant_weights(program, picture):
    weights = np.array([1, 6, 15, 20, 15, 6, 1], np.float32) / 64
    h, w = picture.shape
    p = program("image")
    p.set_global("weights", weights)
    rows, out = p.zeros((h, w), np.float32), p.zeros((h, w), np.float32)
    p.run("blur_rows", (6, 9), (16, 8), p.put(picture), rows, w, h)
    p.run("blur_columns", (6, 9), (16, 8), rows, out, w, h)
    want = np.einsum("i,j,ijyx->yx", weights, weights, around(picture, 3))
    np.testing.assert_allclose(p.get(out), want, rtol=1e-6)


def test_histogram_and_equalisation(program, picture):
    p = program("image")
    pixels, bins, out = p.put(picture), p.zeros(256, np.uint32), p.zeros(picture.shape, np.uint8)
    p.run("histogram", 5, 256, pixels, bins, picture.size)
    counts = np.bincount(picture.ravel(), minlength=256)
    np.testing.assert_array_equal(p.get(bins), counts)
    p.run(
        "equalise", (picture.size + 127) // 128, 128, pixels, out, p.put(np.cumsum(counts).astype("u4")), picture.size
    )
    np.testing.assert_array_equal(p.get(out), (np.cumsum(counts) * 255 // picture.size)[picture])


def test_string_search(program):
    text = "".join(RANDOM(7).choice(list("abc"), 3000)).encode()
    p = program("string_search")
    places, count = p.zeros(3000, np.int32), p.zeros(1, np.int32)
    p.run(
        "find", 12, 256, p.put(np.frombuffer(text, "i1")), 3000, p.put(np.frombuffer(b"abca", "i1")), 4, places, count
    )
    found = np.sort(p.get(places)[: p.get(count)[0]])
    assert found.tolist() == [i for i in range(2997) if text.startswith(b"abca", i)]


def test_hash_table_counts(program):
    keys = RANDOM(8).integers(1, 500, 3000).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    questions = np.concatenate([np.unique(keys), np.arange(1, 50, dtype=np.uint64)])
    p = program("hash_table")
    slots, counts, found = p.zeros(1024, np.uint64), p.zeros(1024, np.uint32), p.zeros(questions.size, np.uint32)
    p.run("insert", 24, 128, p.put(keys), keys.size, slots, counts, 1023)
    p.run("look_up", 8, 128, p.put(questions), questions.size, slots, counts, 1023, found)
    values, times = np.unique(keys, return_counts=True)
    known = dict(zip(values.tolist(), times.tolist()))
    assert p.get(found).tolist() == [known.get(q, 0) for q in questions.tolist()]


def test_connected_components(program):
    n, edges = 900, RANDOM(9).integers(0, 900, (700, 2)).astype(np.int32)
    p = program("union_find")
    parents, labels = p.put(np.arange(n, dtype=np.int32)), p.zeros(n, np.int32)
    p.run("join", 6, 128, parents, p.put(edges), len(edges))
    p.run("flatten", 8, 128, parents, labels, n)
    want, before = np.arange(n), None
    while before is None or (want != before).any():
        before = want.copy()
        np.minimum.at(want, edges[:, 0], before[edges[:, 1]])
        np.minimum.at(want, edges[:, 1], before[edges[:, 0]])
    np.testing.assert_array_equal(p.get(labels), want)


def test_all_shortest_paths(program):
    n = 60
    distances = np.where(RANDOM(10).random((n, n)) < 0.1, RANDOM(11).integers(1, 100, (n, n)), 10**6).astype(np.int32)
    np.fill_diagonal(distances, 0)
    p = program("floyd_warshall")
    out = p.put(distances)
    for k in range(n):
        p.run("allow", (2, n), 32, out, n, k)
        distances = np.minimum(distances, distances[:, k : k + 1] + distances[k])
    np.testing.assert_array_equal(p.get(out), distances)


def test_k_means_in_fixed_point(program):
    n, k = 1000, 5
    points = RANDOM(12).integers(0, 100000, (n, 2)).astype(np.int32)
    p = program("kmeans")
    centres, labels = p.put(points[:k]), p.zeros(n, np.int32)
    want = points[:k].astype(np.int64)
    for _ in range(4):
        sums = p.zeros((k, 3), np.uint64)
        p.run("assign", 8, 128, p.put(points), centres, labels, n, k)
        p.run("add_up", 8, 128, p.put(points), labels, sums, n, k, shared=24 * k)
        p.run("move", 1, 32, sums, centres, k)
        nearest = ((points[:, None].astype(np.int64) - want) ** 2).sum(2).argmin(1)
        want = np.array([points[nearest == c].sum(0) // (nearest == c).sum() for c in range(k)])
    np.testing.assert_array_equal(p.get(labels), nearest)
    np.testing.assert_array_equal(p.get(centres), want)


def test_game_of_life(program):
    cells = RANDOM(13).integers(0, 2, (40, 96)).astype(np.uint8)
    packed = np.packbits(cells, axis=1, bitorder="little").view(np.uint32)
    p = program("life")
    here, there = p.put(packed), p.zeros(packed.shape, np.uint32)
    for _ in range(12):
        p.run("generation", (1, 40), 32, here, there, 3, 40)
        here, there = there, here
        near = sum(np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y)
        cells = ((near == 3) | ((near == 2) & (cells == 1))).astype(np.uint8)
    np.testing.assert_array_equal(np.unpackbits(p.get(here).view(np.uint8), axis=1, bitorder="little"), cells)


@pytest.mark.parametrize("kernel", ["global_score", "local_score"])
def test_alignment_of_sequences(program, kernel):
    a, b = ("".join(RANDOM(s).choice(list("ACGT"), n)) for s, n in ((14, 90), (15, 120)))
    p = program("alignment")
    score = p.zeros(1, np.int32)
    texts = [np.frombuffer(text.encode(), "i1") for text in (a, b)]
    p.run(kernel, 1, 96, p.put(texts[0]), len(a), p.put(texts[1]), len(b), score)
    local = kernel == "local_score"
    row, best = [0 if local else -2 * j for j in range(len(b) + 1)], 0
    for i, letter in enumerate(a, 1):
        now = [0 if local else -2 * i]
        for j, other in enumerate(b, 1):
            value = max(
                row[j - 1] + (3 if letter == other else -1), row[j] - 2, now[j - 1] - 2, 0 if local else -(10**9)
            )
            now.append(value)
        row, best = now, max(best, *now)
    assert p.get(score)[0] == (best if local else row[-1])


def test_elements_that_pass_a_test_in_order(program):
    values = RANDOM(16).integers(-1000, 1000, 5000).astype(np.int32)
    p = program("compaction")
    out, ends, total = p.zeros(5000, np.int32), p.put(np.full(20, -1, np.int32)), p.zeros(1, np.int32)
    p.run("keep_odd", 20, 256, p.put(values), out, 5000, ends, total)
    odd = values[values % 2 != 0]
    assert p.get(total)[0] == odd.size
    np.testing.assert_array_equal(p.get(out)[: odd.size], odd)


def test_sha256(program):
    messages = RANDOM(17).integers(0, 256, (100, 43)).astype(np.uint8)
    p = program("sha256")
    out = p.zeros((100, 8), np.uint32)
    p.run("hash", 2, 64, p.put(messages), 43, out, 100)
    assert [row.tobytes() for row in p.get(out)] == [hashlib.sha256(m.tobytes()).digest() for m in messages]


def test_chacha20(program):
    """The example of RFC 8439, section 2.4.2."""
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    key, nonce = (
        np.arange(32, dtype=np.uint8).view("u4"),
        np.frombuffer(bytes.fromhex("000000000000004a00000000"), "u4"),
    )
    p = program("chacha20")
    out = p.put(np.frombuffer(text.ljust(128, b"\0"), np.uint32))
    p.run("encrypt", 1, 32, p.put(key), p.put(nonce), 1, out, 2)
    assert p.get(out).tobytes()[:114].hex() == (
        "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b357"
        "1639d624e65152ab8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736"
        "5af90bbf74a35be6b40b8eedf2785e42874d"
    )


def test_crc32(program):
    records = RANDOM(18).integers(0, 256, (200, 61)).astype(np.uint8)
    p = program("crc32")
    out = p.zeros(200, np.uint32)
    p.run("crc32", 4, 64, p.put(records), 61, out, 200)
    assert p.get(out).tolist() == [zlib.crc32(r.tobytes()) for r in records]


def test_powers_of_matrices(program):
    prime, matrices = 1000003, RANDOM(19).integers(0, 1000003, (6, 8, 8)).astype(np.uint32)
    p = program("matrix_power")
    out = p.zeros(matrices.shape, np.uint32)
    p.run("power", 6, (8, 8), p.put(matrices), out, 1234567, prime)
    want, base, exponent = np.broadcast_to(np.eye(8, dtype=np.int64), (6, 8, 8)), matrices.astype(np.int64), 1234567
    while exponent:
        if exponent & 1:
            want = want @ base % prime
        base, exponent = base @ base % prime, exponent >> 1
    np.testing.assert_array_equal(p.get(out), want)


def test_pagerank_in_fixed_point(program):
    pages = 500
    starts, links = random_graph(pages, 3000, 20)
    ranks = np.full(pages, 1 << 20, np.uint32)
    p = program("pagerank")
    graph, here = (p.put(starts), p.put(links)), p.put(ranks)
    for _ in range(5):
        there = p.zeros(pages, np.uint32)
        p.run("give", 4, 128, *graph, here, there, pages)
        here, counts = there, np.diff(starts)
        given = np.repeat(ranks // np.maximum(counts, 1), counts)
        ranks = np.bincount(links, given, pages).astype(np.uint32)
    np.testing.assert_array_equal(p.get(here), ranks)


def test_queens_on_a_board(program):
    p = program("queens")
    total = p.zeros(1, np.uint32)
    p.run("count", 9, 32, 9, total)
    assert p.get(total)[0] == 352


def test_two_sorted_arrays_merged(program):
    a, b = (np.sort(RANDOM(s).integers(0, 1000, n)).astype(np.int32) for s, n in ((21, 700), (22, 431)))
    p = program("merge_path")
    out = p.zeros(1131, np.int32)
    p.run("merge", 3, 64, p.put(a), 700, p.put(b), 431, out, 7)
    np.testing.assert_array_equal(p.get(out), np.sort(np.concatenate([a, b])))
