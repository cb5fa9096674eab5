/** Dark or light: as the reader's system is, until the reader says otherwise. */
import { useSyncExternalStore } from "react";

export type Theme = "dark" | "light";
const KEY = "beforehand-theme";
const system = window.matchMedia?.("(prefers-color-scheme: light)");
const watchers = new Set<() => void>();

export function currentTheme(): Theme {
  const chosen = localStorage.getItem(KEY);
  if (chosen === "dark" || chosen === "light") return chosen;
  return system?.matches ? "light" : "dark";
}

function show(): void {
  const { dataset } = document.documentElement;
  if (dataset.theme === currentTheme()) return;
  dataset.theme = currentTheme();
  for (const watcher of watchers) watcher();
}

/** A busy page is not always told that its reader's system has changed, so it looks again when it is turned to. */
export function startTheme(): void {
  show();
  system?.addEventListener("change", show);
  window.addEventListener("focus", show);
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  show();
}

/** The theme, for canvases that draw with its colours. */
export function useTheme(): Theme {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, currentTheme);
}

/** A token's value, for canvases. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
