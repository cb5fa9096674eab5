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
  document.documentElement.dataset.theme = currentTheme();
  for (const watcher of watchers) watcher();
}

export function startTheme(): void {
  show();
  system?.addEventListener("change", show);
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
