pytest_plugins = ["tests.fixtures.redis_servers", "tests.fixtures.kafka_brokers"]
