"""Code by reference: an ObjectCode travels as a name in the store that both ends have."""

import copy
import multiprocessing
import pickle

import pytest
from conftest import run_python

import cucore
from cucore import stores
from cucore.stores import _references

KEYS = stores.KeyRing({"k1": b"1" * 32})
BOUNDS = {"call_seconds": 60, "compile_seconds": 60}  # on a loaded machine too
LARGE = cucore.ObjectCode.from_cubin(b"\x7fELF" + bytes(200_000), name="large", symbol_mapping={"b": "y", "a": "x"})


@pytest.fixture
def shared(tmp_path):
    return stores.SharedStore(tmp_path / "store", keys=KEYS, **BOUNDS)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_references, "PATIENCE", 0.05)


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """What the environment says on all hosts of a cluster."""
    (tmp_path / "keys").write_text(f"k1 {'31' * 32}\n")
    monkeypatch.setenv("CUCORE_CACHE_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CUCORE_CACHE_KEYS", str(tmp_path / "keys"))


def same(code, other=LARGE):
    return (code.code, code.code_type, code.name, list(code.symbol_mapping.items())) == (
        other.code,
        other.code_type,
        other.name,
        list(other.symbol_mapping.items()),
    )


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_code_goes_by_its_name_and_comes_back_the_same(protocol, shared):
    whole = pickle.dumps(LARGE, protocol)
    with stores.send_by_reference(shared):
        sent = pickle.dumps([LARGE, LARGE], protocol)
        assert len(sent) < 1000 < len(whole)
        one, other = pickle.loads(sent)
        assert same(one) and one is other and not one.is_loaded
        assert same(copy.deepcopy(LARGE))
        assert same(pickle.loads(whole))
    assert pickle.dumps(LARGE, protocol) == whole
    stats = shared.stats
    assert (stats.sent, stats.received, stats.sent_whole, len(list(shared.store.list()))) == (2, 2, 0, 1)


def test_small_code_goes_as_bytes(shared):
    small = cucore.ObjectCode.from_ptx(b"small", name="small")
    with stores.send_by_reference(shared):
        assert pickle.loads(pickle.dumps(small)).code == b"small"
    assert list(shared.store.list()) == [] and shared.stats.sent == 0
    with stores.send_by_reference(shared, least_bytes=0):
        assert pickle.loads(pickle.dumps(small)).code == b"small"
    assert shared.stats.sent == 1


class Dead(stores.Store):
    def get(self, name):
        raise ConnectionRefusedError

    put = delete = exists = get

    def list(self):
        return []


def test_code_that_the_store_does_not_take_goes_as_bytes():
    shared = stores.SharedStore(Dead(), keys=KEYS)
    with stores.send_by_reference(shared):
        sent = pickle.dumps(LARGE)
    assert same(pickle.loads(sent)) and shared.stats.sent_whole == 1


def test_code_that_was_removed_is_stored_again(shared):
    with stores.send_by_reference(shared):
        first = pickle.dumps(LARGE)
        shared.store.delete(next(iter(shared.store.list())))
        assert pickle.dumps(LARGE) == first and same(pickle.loads(first))


def test_a_receiver_without_a_store_is_told_what_to_do(shared, tmp_path, monkeypatch):
    with stores.send_by_reference(shared):
        sent = pickle.dumps(LARGE)
    with pytest.raises(stores.MissingCode, match=r"'large' \(\d+ bytes\) came by reference.*CUCORE_CACHE_STORE"):
        pickle.loads(sent)
    stores.receive_from(stores.SharedStore(tmp_path / "another", keys=KEYS))
    try:
        with pytest.raises(stores.MissingCode, match=r"has it not, .*another store"):
            pickle.loads(sent)
        stores.receive_from(stores.SharedStore(Dead(), keys=KEYS))
        with pytest.raises(stores.MissingCode, match="cannot be asked"):
            pickle.loads(sent)
        stores.receive_from(shared)
        assert same(pickle.loads(sent))
    finally:
        stores.receive_from(None)


def seal_other(name, sealed):
    return stores._seal.seal(name, b"other", KEYS, _references.KIND)


def seal_as_strangers(name, sealed):
    payload = stores._seal.unseal(name, sealed, KEYS, made_by=_references.KIND)
    return stores._seal.seal(name, payload, stores.KeyRing({"k1": b"2" * 32}), _references.KIND)


def seal_as_a_compile(name, sealed):
    return stores._seal.seal(name, stores._seal.unseal(name, sealed, KEYS, made_by=_references.KIND), KEYS)


def flip(name, sealed):
    return sealed[:-100] + bytes([sealed[-100] ^ 1]) + sealed[-99:]


@pytest.mark.parametrize("damage", [seal_other, seal_as_strangers, seal_as_a_compile, flip, lambda name, sealed: b""])
def test_what_was_not_sent_is_never_taken(damage, shared):
    with stores.send_by_reference(shared):
        sent = pickle.dumps(LARGE)
        (name,) = shared.store.list()
        shared.store.put(name, damage(name, shared.store.get(name)))
        with pytest.raises(stores.MissingCode, match=name):
            pickle.loads(sent)
    with stores.send_by_reference(shared):  # as another process, which relies on nothing that is there
        assert same(pickle.loads(pickle.dumps(LARGE)))


def test_an_entry_that_shows_late_is_waited_for(shared, monkeypatch):
    monkeypatch.setattr(_references, "PATIENCE", 60)
    shown = []

    def late(name, get=shared.store.get):
        shown.append(name)
        return get(name) if len(shown) > 2 else None

    with stores.send_by_reference(shared):
        sent = pickle.dumps(LARGE)
        monkeypatch.setattr(shared.store, "get", late)
        assert same(pickle.loads(sent)) and len(shown) == 3


def test_sending_needs_a_store(monkeypatch):
    monkeypatch.delenv("CUCORE_CACHE_STORE", raising=False)
    with pytest.raises(ValueError, match="CUCORE_CACHE_STORE"):
        stores.send_by_reference()


def answer(questions, answers):
    """In a process of its own, which has the store from its environment."""
    code = questions.get()
    counts = _references._configured().stats
    answers.put((code, len(code.code), counts.received))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_of_multiprocessing_send_by_reference(method, configured, monkeypatch):
    monkeypatch.setenv("CUCORE_SEND_BY_REFERENCE", "1")
    monkeypatch.setattr(_references, "PATIENCE", 60)
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload([])
    questions, answers = context.Queue(), context.Queue()
    process = context.Process(target=answer, args=(questions, answers))
    process.start()
    with stores.send_by_reference() as shared:
        before = shared.stats
        questions.put(LARGE)
        code, size, received = answers.get(timeout=100)
        process.join(100)
        after = shared.stats
    assert same(code) and size == len(LARGE.code)
    # There by reference, and back by reference, since the environment says so.
    assert (received, after.sent - before.sent, after.received - before.received) == (1, 1, 1)


def test_the_environment_alone_makes_ranks_send_by_reference(configured, tmp_path):
    sending = """
        import pickle, sys, cucore
        code = cucore.ObjectCode.from_cubin(bytes(200_000), name="of a rank")
        open(sys.argv[1], "wb").write(pickle.dumps(code))
    """
    receiving = """
        import pickle, sys, cucore
        print(pickle.load(open(sys.argv[1], "rb")).name)
    """
    file = tmp_path / "message"
    result = run_python(sending, file, env={"CUCORE_SEND_BY_REFERENCE": "1"})
    assert (result.stderr, file.stat().st_size < 1000) == ("", True)
    assert run_python(receiving, file).stdout == "of a rank\n"
    alone = {name: "" for name in ("CUCORE_CACHE_STORE", "CUCORE_CACHE_KEYS")}
    assert "MissingCode: ObjectCode 'of a rank'" in run_python(receiving, file, env=alone).stderr
    unsent = run_python(sending, file, env={"CUCORE_SEND_BY_REFERENCE": "1", **alone})
    assert "there is no store: give one, or set CUCORE_CACHE_STORE" in unsent.stderr


def test_stores_are_not_imported_for_nothing():
    source = """
        import pickle, sys, cucore
        pickle.loads(pickle.dumps(cucore.ObjectCode.from_ptx(b"text")))
        print("cucore.stores" in sys.modules)
    """
    assert run_python(source).stdout == "False\n"
