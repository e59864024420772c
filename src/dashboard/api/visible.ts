// Whether somebody looks at the page. A stream is kept open only then: six of them would keep every other call waiting.

import { useSyncExternalStore } from "react";

/** True while the tab is in front. */
export function useVisible(): boolean {
  return useSyncExternalStore(listen, () => document.visibilityState !== "hidden");
}

function listen(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}
