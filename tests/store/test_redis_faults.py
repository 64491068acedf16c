"""What Redis may do to us: be away, die, forget, fill up, answer late or not at all, hold damaged bytes."""

import os
import secrets
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from store.books import next_version
from store.connection import Connection
from store.keys import Keys
from store.redis_store import RedisStore
from store.types import Claim, Registered, Stored
from streamsieve.errors import BadSpec, CorruptState, Fenced, RolledBack, StoreDown
from tests.store.examples import SHARD, commit_on, spec, top_set
from tests.store.lossy_proxy import LossyProxy, lossy_proxy
from tools.stack.valkey import RunningValkey, free_port, start_valkey

Connect = Callable[..., RedisStore]


NOW = 1_700_000_000.0


@pytest.fixture
def connect(redis_prefix: str) -> Iterator[Connect]:
    stores: list[RedisStore] = []

    def connect(url: str, timeout: float = 2.0) -> RedisStore:
        stores.append(RedisStore.connect(url, redis_prefix, lambda: NOW, timeout))
        return stores[-1]

    yield connect
    for store in stores:
        store.close()


@pytest.fixture
def raw(redis_url: str) -> Iterator["redis.Redis"]:
    """The same server, past the store."""
    with redis.Redis.from_url(redis_url) as client:
        yield client


VERBS: dict[str, Callable[[RedisStore], object]] = {
    "ping": lambda store: store.ping(),
    "create": lambda store: store.create(spec()),
    "recreate": lambda store: store.recreate(Registered(spec(), "a1")),
    "delete": lambda store: store.delete("spam"),
    "registry": lambda store: store.registry(),
    "registry_version": lambda store: store.registry_version(),
    "set_partitions": lambda store: store.set_partitions("spam", "a1", 2),
    "claim": lambda store: store.claim(SHARD),
    "load": lambda store: store.load(SHARD),
    "owns": lambda store: store.owns(Claim(SHARD, 1, "me")),
    "commit": lambda store: store.commit(Claim(SHARD, 1, "me"), commit_on(Stored(), {})),
    "hear": lambda store: store.hear(SHARD, None),
    "halt": lambda store: store.halt(Claim(SHARD, 1, "me"), "why"),
    "statuses": lambda store: store.statuses("spam", "a1", 2),
    "hash_key": lambda store: store.hash_key(),
    "publish": lambda store: store.publish(Claim(SHARD, 1, "me"), top_set(["a"], Claim(SHARD, 1, "me"))),
    "top": lambda store: store.top("spam", "a1"),
    "top_version": lambda store: store.top_version("spam", "a1"),
    "changes": lambda store: store.changes("spam", "a1", 0),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_that_redis_is_down(connect: Connect, verb: str) -> None:
    port = free_port()
    store = connect(f"redis://127.0.0.1:{port}/0")
    with pytest.raises(StoreDown, match=f"127.0.0.1:{port}"):
        VERBS[verb](store)


def test_a_store_made_before_its_redis_works_once_that_is_up(connect: Connect, tmp_path: Path) -> None:
    port = free_port()
    store = connect(f"redis://127.0.0.1:{port}/0")
    with pytest.raises(StoreDown):
        store.ping()
    with start_valkey(tmp_path, port):
        store.ping()
        assert store.owns(store.claim(SHARD))


def test_a_killed_redis_comes_back_with_state_and_offset(connect: Connect, tmp_path: Path) -> None:
    # everysec, the default, may lose up to 2 s while an fsync stalls, as it does on a busy disk
    server = start_valkey(tmp_path, options=("--appendfsync", "always"))
    store = connect(server.url)
    claim = store.claim(SHARD)
    store.commit(claim, commit_on(Stored(), {"s:0": b"a" * 16_384, "n:0": b"b"}))
    before = store.load(SHARD)
    pending = commit_on(before, {"s:0": b"c"})
    server.kill()
    with pytest.raises(StoreDown):
        store.commit(claim, pending)
    with start_valkey(tmp_path, server.port):
        assert store.load(SHARD) == before
        assert store.owns(claim)
        store.commit(claim, pending)
        assert store.load(SHARD).chunks == {"s:0": b"c", "n:0": b"b"}


def test_a_redis_that_lost_its_tail_rolls_back_owner_and_peer(connect: Connect, tmp_path: Path) -> None:
    server = start_valkey(tmp_path / "now")
    store = connect(server.url)
    claim = store.claim(SHARD)
    store.commit(claim, commit_on(Stored(), {"s:0": b"old", "s:1": b"same"}))
    old = store.load(SHARD)
    server.stop()
    shutil.copytree(tmp_path / "now", tmp_path / "then")
    server = start_valkey(tmp_path / "now", server.port)
    store.commit(claim, commit_on(old, {"s:0": b"lost"}))
    lost = store.load(SHARD)
    peer = store.hear(SHARD, None)
    assert peer is not None
    server.kill()
    with start_valkey(tmp_path / "then", server.port):
        with pytest.raises(RolledBack):
            store.commit(claim, commit_on(lost, {"s:0": b"on what is gone"}))
        assert store.load(SHARD) == old
        store.commit(claim, commit_on(old, {"s:0": b"replayed"}))
        heard = store.hear(SHARD, peer.seen)
        assert heard is not None
        assert (heard.whole, heard.chunks) == (True, {"s:0": b"replayed", "s:1": b"same"})


def test_an_emptied_redis_fences_the_owner(connect: Connect, fresh_valkey: RunningValkey) -> None:
    store = connect(fresh_valkey.url)
    store.create(spec())
    claim = store.claim(SHARD)
    store.commit(claim, commit_on(Stored(), {"s:0": b"a"}))
    pending = commit_on(store.load(SHARD), {"s:0": b"b"})
    peer = store.hear(SHARD, None)
    assert peer is not None
    with redis.Redis.from_url(fresh_valkey.url) as client:
        client.flushall()
    with pytest.raises(Fenced):
        store.commit(claim, pending)
    assert store.load(SHARD) == Stored()
    assert store.registry_version() == ""
    heard = store.hear(SHARD, peer.seen)
    assert heard is not None
    assert (heard.whole, heard.accounts, heard.chunks) == (True, None, {})


def test_a_frozen_redis_is_given_up_on_in_time(connect: Connect, fresh_valkey: RunningValkey) -> None:
    store = connect(fresh_valkey.url, timeout=0.2)
    claim = store.claim(SHARD)
    commit = commit_on(Stored(), {"s:0": b"a"})
    store.commit(store.claim(SHARD._replace(partition=1)), commit)  # so that the server knows the script
    os.kill(fresh_valkey.pid, signal.SIGSTOP)
    started = time.monotonic()
    try:
        with pytest.raises(StoreDown):
            store.commit(claim, commit)
    finally:
        os.kill(fresh_valkey.pid, signal.SIGCONT)
    assert time.monotonic() - started < 2
    store.commit(claim, commit)  # whether the first one was carried out or not
    assert store.load(SHARD).number == 1


def test_a_replica_takes_no_commit_until_it_is_promoted(connect: Connect, fresh_valkey: RunningValkey) -> None:
    store = connect(fresh_valkey.url)
    claim = store.claim(SHARD)
    with redis.Redis.from_url(fresh_valkey.url) as client:
        assert len(client.client_list()) == 2
        client.replicaof("127.0.0.1", str(free_port()))
        with pytest.raises(StoreDown):
            store.commit(claim, commit_on(Stored(), {"s:0": b"a"}))
        assert len(client.client_list(_type="normal")) == 1  # the pool let go: a name may lead to another host by now
        with pytest.raises(StoreDown):
            store.hash_key()
        client.replicaof("NO", "ONE")
    store.commit(claim, commit_on(Stored(), {"s:0": b"a"}))
    assert store.load(SHARD).number == 1


def test_a_full_redis_takes_nothing_of_a_commit(connect: Connect, fresh_valkey: RunningValkey) -> None:
    store = connect(fresh_valkey.url)
    claim = store.claim(SHARD)
    store.commit(claim, commit_on(Stored(), {"s:0": b"a"}))
    before = store.load(SHARD)
    with redis.Redis.from_url(fresh_valkey.url) as client:
        client.config_set("maxmemory", 1)
        with pytest.raises(StoreDown):
            store.commit(claim, commit_on(before, {"s:0": b"b"}))
        assert store.load(SHARD) == before
        client.config_set("maxmemory", 0)
    store.commit(claim, commit_on(before, {"s:0": b"b"}))
    assert store.load(SHARD).chunks == {"s:0": b"b"}


def test_what_a_deletion_left_behind_goes_with_the_next_creation(
    connect: Connect, raw: "redis.Redis", redis_url: str, redis_prefix: str
) -> None:
    store = connect(redis_url)
    made = store.create(spec())
    claim = store.claim(SHARD._replace(incarnation=made.incarnation))
    store.delete("spam")
    store.publish(claim, top_set(["late"], claim))
    assert store.load(claim.shard).accounts is None
    store.create(spec())
    assert list(raw.scan_iter(match=f"*{redis_prefix}:spam:{made.incarnation}*")) == []


def test_a_registry_entry_is_replaced_only_by_who_has_read_it(redis_url: str, redis_prefix: str) -> None:
    connection, keys = Connection(redis_url, timeout=2.0), Keys(redis_prefix)
    both = [keys.registry, keys.registry_version]
    answers = [connection.run("register", both, ["spam", read, made, made]) for read, made in [("", "a"), ("", "b")]]
    assert answers == [b"OK", b"MOVED"]
    assert connection.call("HGET", keys.registry, "spam") == b"a"
    assert connection.call("GET", keys.registry_version) == b"a"
    connection.close()


def test_forgotten_scripts_are_sent_again(connect: Connect, fresh_valkey: RunningValkey) -> None:
    store = connect(fresh_valkey.url)
    first = store.claim(SHARD)
    with redis.Redis.from_url(fresh_valkey.url) as client:
        client.script_flush()
    assert store.claim(SHARD).epoch > first.epoch


# Lost replies: redis-py sends again by itself


@pytest.fixture
def proxy(valkey: RunningValkey) -> Iterator[LossyProxy]:
    with lossy_proxy(valkey.port) as proxy:
        yield proxy


@pytest.fixture
def lossy(connect: Connect, proxy: LossyProxy) -> Iterator[RedisStore]:
    """A store whose next script loses its reply; the scripts are known to the server already."""
    store = connect(proxy.url)
    other = SHARD._replace(selector="warm-up")
    claim = store.claim(other)
    store.commit(claim, commit_on(Stored(), {}))
    store.publish(claim, top_set([], claim))
    store.create(spec("warm-up"))
    proxy.armed = True
    yield store
    assert proxy.lost == 1


def test_a_claim_whose_reply_was_lost_claims_once(lossy: RedisStore) -> None:
    claim = lossy.claim(SHARD)
    assert claim.epoch == next_version(0, NOW)  # a second claim would be later by one
    assert lossy.owns(claim)


def test_a_commit_whose_reply_was_lost_counts_once(lossy: RedisStore, proxy: LossyProxy) -> None:
    proxy.armed = False
    claim = lossy.claim(SHARD)
    proxy.armed = True
    lossy.commit(claim, commit_on(Stored(), {"s:0": b"a"}))
    assert lossy.load(SHARD).number == 1
    assert lossy.load(SHARD).chunks == {"s:0": b"a"}


def test_a_publication_whose_reply_was_lost_happens_once(lossy: RedisStore) -> None:
    claim = Claim(SHARD, 1, "me")
    served = lossy.publish(claim, top_set(["a"], claim))
    assert lossy.top("spam", "a1") == served
    assert [change.version for change in lossy.changes("spam", "a1", 0)] == [served.version]


def test_a_creation_whose_reply_was_lost_is_no_conflict(lossy: RedisStore) -> None:
    made = lossy.create(spec())
    assert lossy.registry().live["spam"] == made


def test_a_deletion_whose_reply_was_lost_still_drops_the_keys(lossy: RedisStore, proxy: LossyProxy) -> None:
    proxy.armed = False
    made = lossy.create(spec())
    claim = lossy.claim(SHARD._replace(incarnation=made.incarnation))
    proxy.armed = True
    lossy.delete("spam")
    assert "spam" in lossy.registry().deleted
    assert not lossy.owns(claim)


def test_a_zombie_that_wakes_after_a_takeover_writes_nothing(connect: Connect, redis_url: str) -> None:
    zombie, owner = connect(redis_url), connect(redis_url)
    old = zombie.claim(SHARD)
    late = commit_on(zombie.load(SHARD), {"s:0": b"late"})
    new = owner.claim(SHARD)
    owner.commit(new, commit_on(owner.load(SHARD), {"s:0": b"good"}))
    for _ in range(2):
        with pytest.raises(Fenced):
            zombie.commit(old, late)
    assert owner.load(SHARD).chunks == {"s:0": b"good"}


# Damage


@pytest.fixture
def damaged(connect: Connect, redis_url: str) -> RedisStore:
    store = connect(redis_url)
    claim = store.claim(SHARD)
    store.commit(claim, commit_on(Stored(), {"s:0": b"abc", "s:1": b"def", "n:0": b"name"}))
    return store


def flip(raw: "redis.Redis", key: str, chunk: str, place: int) -> None:
    content = bytearray(raw.hget(key, chunk))  # type: ignore[arg-type]
    content[place] ^= 1
    raw.hset(key, chunk, bytes(content))


@pytest.mark.parametrize("place", [0, 3, 4, -1])
@pytest.mark.parametrize("chunk", ["s:0", "n:0"])
def test_a_flipped_bit_is_found(
    damaged: RedisStore, raw: "redis.Redis", redis_prefix: str, chunk: str, place: int
) -> None:
    keys = Keys(redis_prefix).shard(SHARD)
    flip(raw, keys.names if chunk == "n:0" else keys.state, chunk, place)
    with pytest.raises(CorruptState, match=chunk):
        damaged.load(SHARD)
    with pytest.raises(CorruptState, match=chunk):
        damaged.hear(SHARD, None)


def test_a_flipped_bit_is_found_by_a_following_peer(damaged: RedisStore, raw: "redis.Redis", redis_prefix: str) -> None:
    heard = damaged.hear(SHARD, None)
    assert heard is not None
    claim = damaged.claim(SHARD)
    damaged.commit(claim, commit_on(damaged.load(SHARD), {"s:1": b"DEF"}))
    flip(raw, Keys(redis_prefix).shard(SHARD).state, "s:1", 5)
    with pytest.raises(CorruptState, match="s:1"):
        damaged.hear(SHARD, heard.seen)


@pytest.mark.parametrize("lost", ["meta", "state", "names"])
def test_a_lost_key_is_found(damaged: RedisStore, raw: "redis.Redis", redis_prefix: str, lost: str) -> None:
    raw.delete(getattr(Keys(redis_prefix).shard(SHARD), lost))
    with pytest.raises(CorruptState, match="chunks"):
        damaged.load(SHARD)


def test_a_peer_notices_that_the_list_of_changes_is_lost(
    damaged: RedisStore, raw: "redis.Redis", redis_prefix: str
) -> None:
    heard = damaged.hear(SHARD, None)
    assert heard is not None
    raw.delete(Keys(redis_prefix).shard(SHARD).changed)
    damaged.commit(damaged.claim(SHARD), commit_on(damaged.load(SHARD), {"s:1": b"DEF"}))
    again = damaged.hear(SHARD, heard.seen)
    assert again is not None
    assert again.whole


def test_swapped_chunks_are_found(damaged: RedisStore, raw: "redis.Redis", redis_prefix: str) -> None:
    state = Keys(redis_prefix).shard(SHARD).state
    first, second = raw.hmget(state, "s:0", "s:1")
    raw.hset(state, mapping={"s:0": second or b"", "s:1": first or b""})
    with pytest.raises(CorruptState):
        damaged.load(SHARD)


@pytest.mark.parametrize(("field", "value"), [("format", "2"), ("applied", "many")])
def test_books_that_cannot_be_read_are_refused(
    damaged: RedisStore, raw: "redis.Redis", redis_prefix: str, field: str, value: str
) -> None:
    raw.hset(Keys(redis_prefix).shard(SHARD).meta, field, value)
    with pytest.raises(CorruptState):
        damaged.load(SHARD)


def test_a_damaged_registry_entry_is_named(
    connect: Connect, raw: "redis.Redis", redis_url: str, redis_prefix: str
) -> None:
    store = connect(redis_url)
    store.create(spec())
    raw.hset(Keys(redis_prefix).registry, "spam", "{")
    with pytest.raises(CorruptState, match="spam"):
        store.registry()


# Secrets


def test_the_password_is_in_no_error(connect: Connect, tmp_path: Path) -> None:
    port, password = free_port(), secrets.token_hex(8)
    down = connect(f"redis://user:{password}@127.0.0.1:{port}/0")
    with pytest.raises(StoreDown) as away:
        down.ping()
    with start_valkey(tmp_path, port, ["--requirepass", "another"]):
        with pytest.raises(StoreDown) as refused:
            connect(f"redis://:{password}@127.0.0.1:{port}/0").ping()
        connect(f"redis://:another@127.0.0.1:{port}/0").ping()
    for caught in (away, refused):
        assert f"127.0.0.1:{port}" in str(caught.value)
        assert password not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("url", ["redis://:pa55w0rd@127.0.0.1:pa55w0rd/0", "pa55w0rd", "http://:pa55w0rd@host"])
def test_a_bad_url_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(BadSpec, match="redis") as caught:
        RedisStore.connect(url)
    assert "pa55w0rd" not in str(caught.value)
