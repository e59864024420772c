// The title of the open page, for the frame around it.

import { useSyncExternalStore } from "react";

let current = "";
const listeners = new Set<() => void>();

/** Sets the title of the window and of the frame. */
export function setPageTitle(title: string): void {
  document.title = `${title} · Saldo`;
  current = title;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The title of the open page. Empty: none has been shown yet. */
export function usePageTitle(): string {
  return useSyncExternalStore(subscribe, () => current);
}
