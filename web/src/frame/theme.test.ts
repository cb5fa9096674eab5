import { expect, test, vi } from "vitest";

test("a change that the browser did not tell of is seen when the page is turned to", async () => {
  const system = { matches: true, addEventListener: vi.fn() };
  vi.stubGlobal("matchMedia", () => system);
  const { startTheme } = await import("./theme");
  startTheme();
  expect(document.documentElement.dataset.theme).toBe("light");
  system.matches = false;
  window.dispatchEvent(new Event("focus"));
  expect(document.documentElement.dataset.theme).toBe("dark");
});
