"""Spans for OpenTelemetry: sent as OTLP over HTTP, by the extra `otel`."""
