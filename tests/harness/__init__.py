"""The test harness: throw-away servers, a protocol client that hides nothing, and the runners of tests/run.py."""
