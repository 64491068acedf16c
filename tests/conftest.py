from hypothesis import settings

pytest_plugins = ["tests.fixtures.redis_servers", "tests.fixtures.kafka_brokers"]

# Tests assert no speed: a kernel that compiles at its first example is slow, not wrong.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
