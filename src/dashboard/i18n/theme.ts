// Light or dark: the reader's choice, else the system's setting.

import { useSyncExternalStore } from "react";
import { keep } from "./language.tsx";

export type Theme = "light" | "dark";

const KEPT_AS = "saldo.theme";
const listeners = new Set<() => void>();

/** The current theme, and a function to switch it. */
export function useTheme(): { readonly theme: Theme; readonly turn: () => void } {
  const theme = useSyncExternalStore(listen, shown);
  return { theme, turn: () => show(theme === "dark" ? "light" : "dark") };
}

function shown(): Theme {
  return document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
}

function show(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
  keep(KEPT_AS, theme);
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
