// Whether the page is visible. A stream is open only then: a browser allows six connections, and streams in other tabs
// would block calls.

import { useSyncExternalStore } from "react";

/** True while the tab is in front. */
export function useVisible(): boolean {
  return useSyncExternalStore(listen, () => document.visibilityState !== "hidden");
}

function listen(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}
