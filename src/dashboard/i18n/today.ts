// The current day, for pages that stay open over midnight in Jakarta.

import { useSyncExternalStore } from "react";
import { beginOf, type Day, dayOf, daysLater } from "./days.ts";

/** Today in the billing zone; components that use it render again when the day ends. */
export function useToday(): Day {
  return useSyncExternalStore(listen, () => dayOf(new Date()));
}

function listen(listener: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = () => {
    const now = new Date();
    timer = setTimeout(turn, beginOf(daysLater(dayOf(now), 1)).getTime() - now.getTime());
  };
  // A timer may fire a little early or late: whether the next day has begun is checked, not assumed.
  const turn = () => {
    listener();
    wait();
  };
  wait();
  // A computer that slept through midnight has missed the timer, too.
  document.addEventListener("visibilitychange", listener);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", listener);
  };
}
