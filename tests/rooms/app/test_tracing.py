"""Spans are kept where a collector is set and can be used; what is wrong with it is told, and nothing stops."""

from pathlib import Path

import pytest

from beforehand.app import tracing
from beforehand.app.settings import Settings, load_settings
from beforehand.ports.tracing import NO_SPAN, correlation_id, following, here, is_tracing, span


def settings(tmp_path: Path, **flags: str) -> Settings:
    return load_settings({"home": str(tmp_path / "home"), **flags}, {}, tmp_path / "none")


def test_without_a_tracer_spans_are_nothing() -> None:
    assert not is_tracing()
    assert here() is None
    with span("something", {"a": 1}) as one, one.inside():
        assert one is NO_SPAN
        one.note({"b": 2})
        one.rename("else")
        one.fail("code")


def test_what_is_driven_goes_before_who_asked() -> None:
    from beforehand.ports.log import answering

    with answering("request"):
        assert correlation_id() == "request"
        with following("run"), following(""):
            assert correlation_id() == "run"


async def test_none_is_set_by_default(tmp_path: Path) -> None:
    assert tracing.check_tracing(settings(tmp_path)).state == "missing"
    async with tracing.tracing(settings(tmp_path)):
        assert not is_tracing()


@pytest.mark.parametrize("url", ["collector:4318", "ftp://collector", "http://"])
async def test_an_address_that_is_none_is_told_and_stops_nothing(tmp_path: Path, url: str) -> None:
    found = tracing.check_tracing(settings(tmp_path, otel=url))
    assert (found.state, "http://" in found.says) == ("broken", True)
    async with tracing.tracing(settings(tmp_path, otel=url)):
        assert not is_tracing()


def test_a_missing_extra_is_told_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "find_spec", lambda name: None)
    found = tracing.check_tracing(settings(tmp_path, otel="http://127.0.0.1:4318"))
    assert found.state == "broken"
    assert "pip install '.[otel]'" in found.try_next


def test_a_stranger_s_file_sends_no_spans_elsewhere(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    config.write_text("otel = 'http://elsewhere.example:4318'\n")
    flags = {"home": str(tmp_path / "home"), "workspace": str(tmp_path)}
    assert "not trusted" in tracing.check_tracing(load_settings(flags, {}, config)).says
