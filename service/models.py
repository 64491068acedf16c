"""The shapes of requests and answers, for OpenAPI and for those who generate clients from it."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]

SPEC_EXAMPLE: dict[str, Any] = {
    "name": "spam",
    "algorithm": "b-arda",
    "budget": 100,
    "topic": "samples",
    "loss": "squared_hinge",
    "params": {"eta": 0.5, "delta": 0.01, "lambda": 0.0},
}
FULL_SPEC_EXAMPLE: dict[str, Any] = {
    **SPEC_EXAMPLE,
    "format": "json",
    "intercept": False,
    "half_life": None,
    "start": "earliest",
    "peers": "shared",
    "limits": {},
}


class NewSelector(BaseModel):
    """A selector to create; what is left out takes its default."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [SPEC_EXAMPLE]})

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    algorithm: str
    budget: int = Field(ge=1, le=1_000_000, description="How many features are kept")
    topic: str = Field(pattern=r"^[A-Za-z0-9._-]{1,240}$")
    loss: str | None = Field(None, description="Left out: the algorithm's first")
    params: dict[str, float] = Field(default_factory=dict)
    format: str = Field("json", description="Of records that carry no content-type header")
    intercept: bool = False
    half_life: float | None = Field(None, ge=1, description="In samples")
    start: str = Field("earliest", description="earliest or latest: where a partition without a position begins")
    peers: str = Field("shared", description="shared, or none: each shard predicts from itself alone")
    limits: dict[str, int | float] = Field(default_factory=dict)


class SelectorSpec(BaseModel):
    """A selector's description, every default spelled out."""

    model_config = ConfigDict(json_schema_extra={"examples": [FULL_SPEC_EXAMPLE]})

    name: str
    algorithm: str
    budget: int
    topic: str
    loss: str
    params: dict[str, float]
    format: str
    intercept: bool
    half_life: float | None
    start: str
    peers: str
    limits: dict[str, int | float]


class PartitionBooks(BaseModel):
    """One partition, in records: next_offset - first_offset = applied + dead_lettered + skipped."""

    partition: Count
    first_offset: int | None = Field(description="null before the first commit")
    next_offset: int | None = Field(description="null before the first commit")
    applied: Count
    dead_lettered: Count
    skipped: Count = Field(description="Offsets that hold no record")
    lag: int | None = Field(description="Records that wait in the log; null where Kafka can't tell")
    halted: str | None = Field(description="Why it stands still until an operator decides; null while it runs")


class Progressive(BaseModel):
    """Each sample was predicted before it was learnt; the mean over all samples, null before the first."""

    accuracy: float | None
    loss: float | None
    auc: float | None


PARTITION_EXAMPLE: dict[str, Any] = {
    "partition": 0,
    "first_offset": 0,
    "next_offset": 5000,
    "applied": 4998,
    "dead_lettered": 2,
    "skipped": 0,
    "lag": 0,
    "halted": None,
}


class Selector(SelectorSpec):
    """A selector and its books, summed over the partitions."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **FULL_SPEC_EXAMPLE,
                    "applied": 4998,
                    "dead_lettered": 2,
                    "skipped": 0,
                    "samples": 4998,
                    "version": 1700000000250,
                    "progressive": {"accuracy": 0.94, "loss": 0.21, "auc": 0.98},
                    "partitions": [PARTITION_EXAMPLE],
                }
            ]
        }
    )

    applied: Count
    dead_lettered: Count
    skipped: Count
    samples: Count
    version: Count = Field(description="Of the served set; 0 before the first")
    progressive: Progressive
    partitions: list[PartitionBooks] = Field(description="Empty before a worker has seen the topic")


class TopFeature(BaseModel):
    """One served feature."""

    rank: int = Field(ge=1)
    feature: str
    weight: float
    score: float


class TopFeatures(BaseModel):
    """The served set, best first. `applied` and the weights belong to one version."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "selector": "spam",
                    "algorithm": "b-arda",
                    "version": 1700000000250,
                    "applied": 4998,
                    "samples": 4998,
                    "updated_at": "2023-11-14T22:13:20.250Z",
                    "budget": 100,
                    "k": 1,
                    "features": [{"rank": 1, "feature": "tok:free", "weight": 1.25, "score": 40.5}],
                }
            ]
        }
    )

    selector: str
    algorithm: str
    version: Count = Field(description="Grows with every change; 0 before the first set")
    applied: Count
    samples: Count
    updated_at: str | None = Field(description="RFC 3339, UTC; null before the first set")
    budget: int
    k: int
    features: list[TopFeature]


class Alive(BaseModel):
    """The process answers."""

    status: str = Field(examples=["alive"])


class HaltedPartition(BaseModel):
    """A partition that waits for an operator."""

    selector: str
    partition: Count
    reason: str


class Readiness(BaseModel):
    """What is up, down or halted. Only Redis decides whether the service is ready."""

    redis: str = Field(examples=["up"], description="up, or down: why")
    kafka: str = Field(examples=["up"], description="up, down: why, or unknown: why")
    halted: list[HaltedPartition]


class FieldError(BaseModel):
    """One wrong value."""

    field: str
    message: str


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:sieve:problem:bad-spec",
                    "title": "The selector's description is wrong",
                    "status": 422,
                    "detail": "budget: must be a whole number from 1 to 1000000, not 0",
                    "errors": [{"field": "budget", "message": "must be a whole number from 1 to 1000000, not 0"}],
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] = Field(default_factory=list, description="The wrong values, where there are some")
    down: str | None = Field(None, description="The part that does not answer: redis or kafka")
