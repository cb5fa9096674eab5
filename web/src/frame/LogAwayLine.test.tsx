import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { tellUnrecorded } from "@/api/unrecorded";

let since: number | undefined;
vi.mock("@/live/hooks", () => ({
  useLive: (pick: (snapshot: unknown) => unknown) => pick({ standing: { logAwaySince: since } }),
  useTick: () => Date.now(),
}));
const { LogAwayLine } = await import("./LogAwayLine");

describe("the line about a log that cannot be written", () => {
  afterEach(cleanup);

  it("is there while it cannot be, with what was done and is not recorded", () => {
    since = Date.now() - 60_000;
    const { rerender } = render(<LogAwayLine />);
    expect(screen.getByRole("alert").textContent).toContain("hold, pause, cancel and stop work");
    act(() => tellUnrecorded({ robotId: "RB-01", notRecorded: ["RB-01 was told to stand."] }));
    act(() => tellUnrecorded({ robotId: "RB-02" }));
    expect(screen.getByRole("alert").textContent).toContain("RB-01 was told to stand.");
    since = undefined;
    rerender(<LogAwayLine />);
    expect(screen.queryByRole("alert")).toBeNull();
  });
});
