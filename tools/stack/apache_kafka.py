"""A real Apache Kafka without containers: its jars by Maven, one node or three in KRaft mode on the loopback.

For tests and for `sieve dev --kafka apache`; it needs Java 17 and Maven, and the project's checkout, for
`deploy/kafka/pom.xml` (which names the version) isn't part of the wheel.
"""

import base64
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from broker.kafka_broker import KafkaBroker
from streamsieve.errors import BadFile, BrokerDown

_ROOT = Path(__file__).resolve().parents[2]
_POM = _ROOT / "deploy" / "kafka" / "pom.xml"
_START_SECONDS = 60.0
_STOP_SECONDS = 3.0


class KafkaMissing(BadFile):
    """The local Kafka can't be had: the message says what is missing."""


def fetch_kafka(cache: Path | None = None) -> Path:
    """The folder with Kafka's jars; downloaded at the first call, whole or not at all."""
    if not _POM.exists():
        raise KafkaMissing(f"{_POM} is missing: a local Apache Kafka can only be had from a checkout of the project")
    folder = (cache or _default_cache()) / f"kafka-{kafka_version()}"
    if not (folder / "libs").exists():
        _download(folder)
    return folder / "libs"


def kafka_version() -> str:
    """As the pom.xml names it, the bindings' version included: a changed pom is fetched anew."""
    versions = re.findall(r"<version>([0-9.]{3,})</version>", _POM.read_text())
    return "-".join(versions)


def start_kafka(folder: Path, nodes: int = 1) -> "RunningKafka":
    """Start so many nodes (1 or 3) with data and logs under `folder`; returns when they answer."""
    java = _program("java")
    libs = fetch_kafka()
    running = RunningKafka(java, libs, folder, nodes)
    try:
        running.start()
    except BaseException:
        running.stop()
        raise
    return running


class RunningKafka:
    """Nodes are numbered from 0."""

    def __init__(self, java: str, libs: Path, folder: Path, nodes: int) -> None:
        self._command = [java, "-Xms128m", f"-Xmx{512 if nodes == 1 else 384}m", "-XX:+UseSerialGC"]
        self._command += ["-XX:TieredStopAtLevel=1", "-Dlog4j2.level=WARN", "-cp", f"{libs}/*"]
        self._folder = folder
        self._ports = [(_free_port(), _free_port()) for _ in range(nodes)]  # for clients, for the controllers
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")

    @property
    def bootstrap(self) -> str:
        """What clients connect to."""
        return ",".join(f"127.0.0.1:{port}" for port, _ in self._ports)

    @property
    def process_ids(self) -> list[int]:
        """Of the nodes that run."""
        return [process.pid for process in self._processes.values()]

    def start(self) -> None:
        """Format and start every node, and wait until all answer."""
        formatting = [self._format(node) for node in range(len(self._ports))]
        for process in formatting:
            _check_formatted(process)
        for node in range(len(self._ports)):
            self._launch(node)
        for node in range(len(self._ports)):
            self._wait(node)

    def restart(self, node: int) -> None:
        """Start a node again with the data that it had; returns when it answers."""
        self._launch(node)
        self._wait(node)

    def kill(self, node: int) -> None:
        """End a node with SIGKILL."""
        process = self._processes.pop(node)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """End all nodes, in peace if they go in time: the last of three finds no quorum to say goodbye to."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()

    def __enter__(self) -> "RunningKafka":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _format(self, node: int) -> "subprocess.Popen[bytes]":
        home = self._home(node)
        home.mkdir(parents=True, exist_ok=True)
        properties = home / "server.properties"
        properties.write_text(_properties(node, self._ports, home / "data"))
        command = [*self._command, "kafka.tools.StorageTool", "format", "-t", self._cluster, "-c", str(properties)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=home)

    def _launch(self, node: int) -> None:
        home = self._home(node)
        command = [*self._command, "kafka.Kafka", str(home / "server.properties")]
        with (home / "server.log").open("ab") as log:
            # A session of its own, so that Ctrl-C ends it through `stop`, after the clients.
            self._processes[node] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=home,
                start_new_session=True,
            )

    def _wait(self, node: int) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not _is_open(self._ports[node][0]):
            if self._processes[node].poll() is not None or time.monotonic() > deadline:
                raise BrokerDown(f"Apache Kafka did not start, see {self._home(node) / 'server.log'}")
            time.sleep(0.05)
        broker = KafkaBroker(f"127.0.0.1:{self._ports[node][0]}")
        with contextlib.closing(broker):
            broker.ping()

    def _home(self, node: int) -> Path:
        return self._folder / f"node-{node}"


def _check_formatted(process: "subprocess.Popen[bytes]") -> None:
    said, _ = process.communicate()
    if process.returncode:
        raise BrokerDown(f"Kafka's storage can't be formatted: {said.decode(errors='replace').strip()}")


def _properties(node: int, ports: list[tuple[int, int]], data: Path) -> str:
    """The settings of one node that is both broker and controller."""
    nodes = len(ports)
    client, controller = ports[node]
    voters = ",".join(f"{i + 1}@127.0.0.1:{port}" for i, (_, port) in enumerate(ports))
    settings = {
        "process.roles": "broker,controller",
        "node.id": node + 1,
        "controller.quorum.voters": voters,
        "listeners": f"PLAINTEXT://127.0.0.1:{client},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{client}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": data,
        "num.partitions": 1,
        "auto.create.topics.enable": "true",
        "default.replication.factor": nodes,
        "min.insync.replicas": max(nodes - 1, 1),
        "offsets.topic.replication.factor": nodes,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": nodes,
        "transaction.state.log.min.isr": max(nodes - 1, 1),
        "transaction.state.log.num.partitions": 4,
        "group.initial.rebalance.delay.ms": 0,
        "group.min.session.timeout.ms": 1000,
        "broker.session.timeout.ms": 3000,  # how soon a dead node loses its partitions
        "broker.heartbeat.interval.ms": 500,
        "num.network.threads": 2,
        "num.io.threads": 4,
        "log.cleaner.dedupe.buffer.size": 16 * 1024 * 1024,
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _download(folder: Path) -> None:
    """Into a folder beside it, renamed when complete: an interrupted download leaves nothing that looks whole."""
    maven = _program("mvn")
    folder.parent.mkdir(parents=True, exist_ok=True)
    print(f"fetching Apache Kafka {kafka_version()} by Maven into {folder} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        command = [maven, "-q", "-B", "-f", str(_POM), "dependency:copy-dependencies", "-DincludeScope=runtime"]
        done = subprocess.run([*command, f"-DoutputDirectory={work}/kafka/libs"], capture_output=True, check=False)
        if done.returncode:
            raise KafkaMissing(f"Maven can't fetch Apache Kafka: {done.stdout.decode(errors='replace').strip()[:500]}")
        with contextlib.suppress(FileExistsError, OSError):  # somebody else was quicker: theirs is as good
            Path(work, "kafka").rename(folder)
    if not (folder / "libs").exists():
        raise KafkaMissing(f"Apache Kafka was fetched but can't be put at {folder}")


def _default_cache() -> Path:
    """The checkout's own, if we may write there."""
    if os.access(_ROOT, os.W_OK):
        return _ROOT / ".cache"
    return Path.home() / ".cache" / "streamsieve"


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise KafkaMissing(f"{name} is not on the PATH: a local Apache Kafka needs Java 17 and Maven")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0
