"""What every store promises, run over all of them: in memory, Valkey, Redis, Redis Cluster."""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from store.protocol import Store
from store.types import Claim, Commit, Registered, Seen, ShardKey, Stored
from streamsieve.errors import AlreadyExists, Fenced, RolledBack, UnknownSelector
from tests.fixtures.redis_servers import MakeStore
from tests.store.examples import PROGRESS, SHARD, commit_on, spec, top_set

BYTES = bytes(range(256)) * 64  # 16 KiB of every byte there is


def write(store: Store, claim: Claim, chunks: dict[str, bytes]) -> Commit:
    commit = commit_on(store.load(claim.shard), chunks)
    store.commit(claim, commit)
    return commit


# Registry


def test_an_empty_store_has_no_selectors_and_no_version(store: Store) -> None:
    assert store.registry().live == {}
    assert store.registry().deleted == frozenset()
    assert store.registry_version() == ""


def test_a_created_selector_reads_back_equal(make_store: MakeStore) -> None:
    made = make_store().create(spec())
    assert make_store().registry().live == {"spam": made}
    assert made.spec == spec()
    assert made.partitions is None


def test_create_refuses_a_name_that_lives(store: Store) -> None:
    made = store.create(spec())
    with pytest.raises(AlreadyExists, match="spam"):
        store.create(spec(budget=11))
    assert store.registry().live == {"spam": made}


def test_of_many_creations_of_one_name_one_wins(store: Store) -> None:
    def attempt(budget: int) -> Registered | None:
        try:
            return store.create(spec(budget=budget))
        except AlreadyExists:
            return None

    with ThreadPoolExecutor(8) as pool:
        [won] = [made for made in pool.map(attempt, range(1, 17)) if made is not None]
    assert store.registry().live == {"spam": won}


def test_a_deleted_selector_leaves_a_tombstone_and_nothing_else(store: Store) -> None:
    made = store.create(spec())
    store.set_partitions("spam", made.incarnation, 3)
    claims = [store.claim(ShardKey("spam", made.incarnation, partition)) for partition in range(3)]
    for claim in claims:
        write(store, claim, {"s:0": b"x", "n:0": b"y"})
    store.publish(claims[0], top_set(["a"], claims[0]))
    store.delete("spam")
    assert store.registry().live == {}
    assert store.registry().deleted == {"spam"}
    assert [store.load(claim.shard) for claim in claims] == [Stored()] * 3
    assert store.top("spam", made.incarnation) is None
    assert store.top_version("spam", made.incarnation) == ""
    assert store.changes("spam", made.incarnation, 0) == []


def test_a_worker_of_a_deleted_selector_is_fenced(store: Store) -> None:
    made = store.create(spec())
    claim = store.claim(ShardKey("spam", made.incarnation, 0))
    loaded = store.load(claim.shard)
    store.delete("spam")
    with pytest.raises(Fenced):
        store.commit(claim, commit_on(loaded, {"s:0": b"x"}))
    assert store.load(claim.shard) == Stored()


def test_delete_knows_only_the_living(store: Store) -> None:
    with pytest.raises(UnknownSelector, match="spam"):
        store.delete("spam")
    store.create(spec())
    store.delete("spam")
    with pytest.raises(UnknownSelector):
        store.delete("spam")


def test_a_tombstone_goes_when_the_name_is_created_again(store: Store) -> None:
    first = store.create(spec())
    store.delete("spam")
    second = store.create(spec())
    assert second.incarnation != first.incarnation
    assert store.registry().live == {"spam": second}
    assert store.registry().deleted == frozenset()


def test_recreate_heals_a_loss_but_neither_overwrites_nor_digs_up(store: Store) -> None:
    lost = Registered(spec(), "beef", partitions=4, paused=True)
    store.recreate(lost)
    assert store.registry().live == {"spam": lost}
    store.recreate(lost._replace(incarnation="cafe"))
    assert store.registry().live == {"spam": lost}
    store.delete("spam")
    store.recreate(lost)
    assert store.registry().live == {}


def test_registry_version_moves_with_every_change_and_only_then(store: Store) -> None:
    versions = [store.registry_version()]
    made = store.create(spec())
    versions.append(store.registry_version())
    store.set_partitions("spam", made.incarnation, 4)
    versions.append(store.registry_version())
    store.delete("spam")
    versions.append(store.registry_version())
    store.recreate(made)
    store.set_partitions("spam", made.incarnation, 5)
    assert store.registry_version() == versions[-1]
    assert len(set(versions)) == 4


def test_partitions_are_told_to_the_living_incarnation_only(store: Store) -> None:
    made = store.create(spec())
    store.set_partitions("spam", "another", 8)
    assert store.registry().live["spam"].partitions is None
    store.set_partitions("spam", made.incarnation, 4)
    assert store.registry().live == {"spam": made._replace(partitions=4)}


# Shards


def test_a_shard_that_never_was(store: Store) -> None:
    assert store.load(SHARD) == Stored()
    heard = store.hear(SHARD, None)
    assert heard is not None
    assert (heard.seen, heard.accounts, heard.chunks, heard.whole) == (Seen("", 0), None, {}, True)
    assert store.hear(SHARD, heard.seen) is None
    [status] = store.statuses("spam", "a1", 1)
    assert (status.partition, status.accounts, status.owner, status.epoch) == (0, None, "", 0)
    assert (status.committed_at, status.halted) == (0.0, "")
    assert status.progress[:3] == (0.0, 0.0, 0.0)
    assert math.isnan(status.progress[3])


def test_every_claim_voids_the_one_before(store: Store) -> None:
    first = store.claim(SHARD)
    assert store.owns(first)
    second = store.claim(SHARD)
    assert second.epoch > first.epoch
    assert first.owner != second.owner
    assert store.owns(second)
    assert not store.owns(first)
    assert not store.owns(second._replace(epoch=first.epoch))
    assert not store.owns(Claim(SHARD._replace(partition=1), 1, first.owner))


def test_what_was_committed_is_loaded(make_store: MakeStore) -> None:
    store = make_store()
    claim = store.claim(SHARD)
    chunks = {"s:0": BYTES, "s:1": b"", "n:0": "größe\0\r\n".encode()}
    commit = write(store, claim, chunks)
    assert make_store().load(SHARD) == Stored(commit.version, 1, commit.accounts, chunks)


def test_a_commit_replaces_its_chunks_and_leaves_the_others(store: Store) -> None:
    claim = store.claim(SHARD)
    write(store, claim, {"s:0": b"a", "s:1": b"b", "n:0": b"c"})
    last = write(store, claim, {"s:1": b"B", "n:1": b"d"})
    assert store.load(SHARD).chunks == {"s:0": b"a", "s:1": b"B", "n:0": b"c", "n:1": b"d"}
    assert store.load(SHARD).number == 2
    assert store.load(SHARD).accounts == last.accounts


def test_a_takeover_keeps_the_state(store: Store) -> None:
    write(store, store.claim(SHARD), {"s:0": b"a"})
    before = store.load(SHARD)
    claim = store.claim(SHARD)
    assert store.load(SHARD) == before
    write(store, claim, {"s:0": b"b"})
    assert store.load(SHARD).number == 2


def test_a_commit_without_chunks_moves_the_offset(store: Store) -> None:
    claim = store.claim(SHARD)
    write(store, claim, {"s:0": b"a"})
    last = write(store, claim, {})
    assert store.load(SHARD) == Stored(last.version, 2, last.accounts, {"s:0": b"a"})


def test_a_resent_commit_changes_nothing(store: Store) -> None:
    claim = store.claim(SHARD)
    commit = write(store, claim, {"s:0": b"a"})
    before = store.load(SHARD)
    store.commit(claim, commit)
    assert store.load(SHARD) == before


def test_the_fenced_write_nothing(store: Store) -> None:
    zombie = store.claim(SHARD)
    loaded = store.load(SHARD)
    owner = store.claim(SHARD)
    with pytest.raises(Fenced):
        store.commit(zombie, commit_on(loaded, {"s:0": b"zombie"}))
    with pytest.raises(Fenced):
        store.commit(owner._replace(epoch=zombie.epoch), commit_on(loaded, {"s:0": b"wrong epoch"}))
    with pytest.raises(Fenced):
        store.commit(owner._replace(owner=zombie.owner), commit_on(loaded, {"s:0": b"wrong owner"}))
    for claim in (zombie, owner._replace(owner=zombie.owner)):
        with pytest.raises(Fenced):
            store.halt(claim, "out of range")
    assert store.load(SHARD) == Stored()
    assert store.statuses("spam", "a1", 1)[0].halted == ""


def test_a_zombie_is_told_fenced_even_for_a_commit_that_was_carried_out(store: Store) -> None:
    zombie = store.claim(SHARD)
    commit = write(store, zombie, {"s:0": b"a"})
    store.claim(SHARD)
    with pytest.raises(Fenced):
        store.commit(zombie, commit)


@pytest.mark.parametrize("change", [{"base_version": "never"}, {"base_offset": 4}, {"base_offset": None}])
def test_a_commit_on_another_base_is_rolled_back(store: Store, change: dict[str, str | int | None]) -> None:
    claim = store.claim(SHARD)
    write(store, claim, {"s:0": b"a"})
    before = store.load(SHARD)
    with pytest.raises(RolledBack):
        store.commit(claim, replace(commit_on(before, {"s:0": b"b"}), **change))  # type: ignore[arg-type]
    assert store.load(SHARD) == before


def test_large_offsets_stay_exact(store: Store) -> None:
    claim = store.claim(SHARD)
    commit = commit_on(Stored(), {})
    huge = replace(commit.accounts, first_offset=2**62, next_offset=2**62 + 1)
    store.commit(claim, replace(commit, accounts=huge))
    assert store.load(SHARD).accounts == huge
    with pytest.raises(RolledBack):
        store.commit(claim, replace(commit_on(store.load(SHARD), {}), base_offset=2**62))


def test_a_peer_hears_what_changed_and_no_more(store: Store) -> None:
    claim = store.claim(SHARD)
    write(store, claim, {"s:0": b"a", "s:1": b"b", "n:0": b"c"})
    first = store.hear(SHARD, None)
    assert first is not None
    assert first.whole
    assert store.hear(SHARD, first.seen) is None
    write(store, claim, {"s:1": b"B"})
    last = write(store, claim, {"n:1": b"d"})
    second = store.hear(SHARD, first.seen)
    assert second is not None
    assert (second.whole, second.chunks) == (False, {"s:1": b"B", "n:1": b"d"})
    assert (second.seen, second.accounts) == (Seen(last.version, 3), last.accounts)
    assert second.progress == PROGRESS


@pytest.mark.parametrize("seen", [Seen("", 0), Seen("never", 1), Seen("never", 0)])
def test_an_unknown_version_gives_the_whole_shard(store: Store, seen: Seen) -> None:
    write(store, store.claim(SHARD), {"s:0": b"a", "n:0": b"b"})
    heard = store.hear(SHARD, seen)
    assert heard is not None
    assert (heard.whole, heard.chunks) == (True, {"s:0": b"a", "n:0": b"b"})


def test_a_known_version_under_another_number_is_unknown(store: Store) -> None:
    claim = store.claim(SHARD)
    first = write(store, claim, {"s:0": b"a"})
    second = write(store, claim, {"s:1": b"b"})
    for seen in (Seen(first.version, 7), Seen(second.version, 7)):
        heard = store.hear(SHARD, seen)
        assert heard is not None
        assert (heard.whole, heard.chunks) == (True, {"s:0": b"a", "s:1": b"b"})


def test_a_peer_that_slept_through_a_thousand_commits_reads_the_whole_shard(store: Store) -> None:
    claim = store.claim(SHARD)
    seen, last = [], Stored()
    for number in range(1, 1003):
        commit = commit_on(last, {f"s:{number % 3}": str(number).encode()})
        store.commit(claim, commit)
        last = Stored(commit.version, number, commit.accounts)
        seen.append(Seen(commit.version, number))
    asleep, awake = store.hear(SHARD, seen[1]), store.hear(SHARD, seen[2])
    assert asleep is not None
    assert awake is not None
    assert (asleep.whole, awake.whole) == (True, False)
    assert asleep.chunks == awake.chunks == store.load(SHARD).chunks


def test_a_halted_shard_says_why_until_it_runs_again(store: Store) -> None:
    claim = store.claim(SHARD)
    store.halt(claim, "offset 7 is no longer in the log")
    assert store.statuses("spam", "a1", 1)[0].halted == "offset 7 is no longer in the log"
    store.halt(store.claim(SHARD), "")
    assert store.statuses("spam", "a1", 1)[0].halted == ""


def test_statuses_tell_every_partition(store: Store) -> None:
    claim = store.claim(SHARD._replace(partition=2))
    commit = write(store, claim, {})
    statuses = store.statuses("spam", "a1", 4)
    assert [status.partition for status in statuses] == [0, 1, 2, 3]
    assert [status.accounts for status in statuses] == [None, None, commit.accounts, None]
    assert (statuses[2].owner, statuses[2].epoch, statuses[2].progress) == (claim.owner, claim.epoch, PROGRESS)
    assert statuses[2].committed_at == pytest.approx(time.time(), abs=60)


def test_the_hash_key_is_made_once(make_store: MakeStore) -> None:
    key = make_store().hash_key()
    assert len(key) == 16
    assert make_store().hash_key() == key


def test_of_many_commits_on_one_base_one_wins(store: Store) -> None:
    claim = store.claim(SHARD)
    commits = [commit_on(Stored(), {"s:0": bytes([i])}) for i in range(8)]

    def attempt(commit: Commit) -> bool:
        try:
            store.commit(claim, commit)
        except RolledBack:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(attempt, commits))
    assert won.count(True) == 1
    assert store.load(SHARD).chunks == commits[won.index(True)].chunks


# Served sets


def test_a_published_set_reads_back_equal(make_store: MakeStore) -> None:
    store = make_store()
    claim = store.claim(SHARD)
    names = ["größe", 'a"b', "x\n", "\x00", "{}"]
    served = store.publish(claim, top_set(names, claim))
    assert make_store().top("spam", "a1") == served
    assert replace(served, version=0, nonce="") == top_set(names, claim)
    assert make_store().top_version("spam", "a1") == f"{served.version}:{served.nonce}"
    assert served.nonce


def test_versions_grow_and_are_at_least_the_clock(store: Store) -> None:
    before = int(time.time() * 1000)
    claim = store.claim(SHARD)
    versions = [store.publish(claim, top_set(["a"], claim)).version for _ in range(5)]
    assert versions[0] >= before
    assert versions == sorted(set(versions))


def test_history_tells_who_entered_and_left(make_store: MakeStore) -> None:
    store = make_store()
    claim = store.claim(SHARD)
    first = store.publish(claim, top_set(["a", "b", "c"], claim))
    store.publish(claim, top_set(["c", "b", "a"], claim))
    later = store.claim(SHARD)
    second = make_store().publish(later, top_set(["d", "a", "e"], later))
    changes = store.changes("spam", "a1", 0)
    assert [change.version for change in changes] == [first.version, second.version]
    assert [change.entered for change in changes] == [("a", "b", "c"), ("d", "e")]
    assert [change.left for change in changes] == [(), ("c", "b")]
    assert store.changes("spam", "a1", first.version) == changes[1:]
    assert store.changes("spam", "a1", second.version) == []


def test_two_stores_that_publish_in_turn_agree_on_the_history(make_store: MakeStore) -> None:
    one, other = make_store(), make_store()
    claim = one.claim(SHARD)
    one.publish(claim, top_set(["a"], claim))
    other.publish(claim, top_set(["b"], claim))
    one.publish(claim, top_set(["c"], claim))
    changes = one.changes("spam", "a1", 0)
    assert [(change.entered, change.left) for change in changes] == [
        (("a",), ()),
        (("b",), ("a",)),
        (("c",), ("b",)),
    ]


def test_an_earlier_owner_may_not_publish_after_a_later_one(make_store: MakeStore) -> None:
    store, other = make_store(), make_store()
    zombie = store.claim(SHARD)
    store.publish(zombie, top_set(["z"], zombie))
    owner = other.claim(SHARD)
    served = other.publish(owner, top_set(["a"], owner))
    with pytest.raises(Fenced):
        store.publish(zombie, top_set(["z"], zombie))
    with pytest.raises(Fenced):
        store.publish(owner._replace(owner="impostor"), top_set(["z"], owner))
    assert store.top("spam", "a1") == served


def test_history_is_capped(store: Store) -> None:
    claim = store.claim(SHARD)
    versions = [store.publish(claim, top_set([f"f{i}"], claim)).version for i in range(1003)]
    changes = store.changes("spam", "a1", 0)
    assert [change.version for change in changes] == versions[-1000:]
    assert changes[0].left == ("f2",)


def test_a_large_set_is_served(store: Store) -> None:
    claim = store.claim(SHARD)
    served = store.publish(claim, top_set([f"feature number {i}" for i in range(100_000)], claim))
    assert store.top("spam", "a1") == served
    assert len(store.changes("spam", "a1", 0)[0].entered) == 100_000
