"""The registry in Redis. Every change is one swap of one entry for the one that was read."""

import secrets
from typing import Any

import msgspec

from store.connection import Connection, Value
from store.keys import Keys
from store.types import Registered, Registry, ShardKey
from streamsieve.errors import AlreadyExists, BadSpec, CorruptState, UnknownSelector
from streamsieve.spec import Spec


class Entry(msgspec.Struct, omit_defaults=True):
    """One line of the registry: live, or a tombstone, which keeps what is needed to drop the selector's keys."""

    incarnation: str
    spec: dict[str, Any] | None = None
    partitions: int | None = None
    paused: bool = False
    deleted: str = ""  # a tombstone's random id


class RedisRegistry:
    """Implements `store.protocol.RegistryStore`."""

    def __init__(self, connection: Connection, keys: Keys) -> None:
        self._connection = connection
        self._keys = keys

    def create(self, spec: Spec) -> Registered:
        """Register under a fresh incarnation; raises AlreadyExists. A tombstone of that name goes away."""
        registered = Registered(spec, secrets.token_hex(8))
        swapped = False
        while not swapped:
            packed, entry = self._read(spec.name)
            if entry is not None and not entry.deleted and entry.incarnation != registered.incarnation:
                raise AlreadyExists(f"a selector named {spec.name} exists")
            swapped = self._swap(spec.name, packed, _entry(registered))
        if entry is not None and entry.deleted:
            self._drop(spec.name, entry)  # whoever deleted it may have died before its keys were gone
        return registered

    def recreate(self, registered: Registered) -> None:
        """Put back an entry that the store lost; does nothing if one is there or a tombstone is."""
        if self._read(registered.spec.name)[1] is None:
            self._swap(registered.spec.name, b"", _entry(registered))

    def delete(self, name: str) -> None:
        """Leave a tombstone and drop all keys of the selector; raises UnknownSelector."""
        tombstone = None
        while tombstone is None:
            packed, entry = self._read(name)
            if entry is None or entry.deleted:
                raise UnknownSelector(f"no selector named {name}")
            buried = Entry(entry.incarnation, partitions=entry.partitions, deleted=secrets.token_hex(8))
            tombstone = buried if self._swap(name, packed, buried) else None
        self._drop(name, tombstone)

    def registry(self) -> Registry:
        """All of them; raises CorruptState where an entry can't be read."""
        stored: dict[bytes, bytes] = self._connection.call("HGETALL", self._keys.registry)
        entries = {name.decode(): _unpack(name.decode(), packed) for name, packed in stored.items()}
        live = {name: _registered(name, entry) for name, entry in entries.items() if not entry.deleted}
        return Registry(live, frozenset(name for name, entry in entries.items() if entry.deleted))

    def registry_version(self) -> str:
        """Differs whenever `registry` would; '' where the store is empty."""
        version: bytes | None = self._connection.call("GET", self._keys.registry_version)
        return (version or b"").decode()

    def set_partitions(self, name: str, incarnation: str, partitions: int) -> None:
        """Tell how many partitions the topic has; ignored for another incarnation."""
        swapped = False
        while not swapped:
            packed, entry = self._read(name)
            if entry is None or entry.deleted or entry.incarnation != incarnation or entry.partitions == partitions:
                return
            swapped = self._swap(name, packed, msgspec.structs.replace(entry, partitions=partitions))

    def _read(self, name: str) -> tuple[bytes, Entry | None]:
        packed: bytes | None = self._connection.call("HGET", self._keys.registry, name)
        return (packed, _unpack(name, packed)) if packed else (b"", None)

    def _swap(self, name: str, read: bytes, entry: Entry) -> bool:
        keys = [self._keys.registry, self._keys.registry_version]
        arguments: list[Value] = [name, read, msgspec.json.encode(entry), secrets.token_hex(8)]
        return bool(self._connection.run("register", keys, arguments) == b"OK")

    def _drop(self, name: str, entry: Entry) -> None:
        """One key a command: in Redis Cluster each lives in its own slot."""
        keys = list(self._keys.top(name, entry.incarnation))
        for partition in range(entry.partitions or 1):
            keys += self._keys.shard(ShardKey(name, entry.incarnation, partition))
        self._connection.call_all([("UNLINK", key) for key in keys])


def _entry(registered: Registered) -> Entry:
    spec, incarnation, partitions, paused = registered
    return Entry(incarnation, spec.as_json(), partitions, paused)


def _unpack(name: str, packed: bytes) -> Entry:
    try:
        return msgspec.json.decode(packed, type=Entry)
    except msgspec.DecodeError as error:
        raise CorruptState(f"the registry's entry of {name} is damaged: {error}") from error


def _registered(name: str, entry: Entry) -> Registered:
    try:
        return Registered(Spec.parse(entry.spec), entry.incarnation, entry.partitions, entry.paused)
    except BadSpec as error:
        raise CorruptState(f"the registry's entry of {name} can't be read by this program: {error}") from error
