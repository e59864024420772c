// The day it is, for pages that stay open over midnight in Jakarta.

import { useSyncExternalStore } from "react";
import { beginOf, type Day, dayOf, daysLater } from "./days.ts";

/** Today in the billing zone; whoever shows it is shown anew when it is over. */
export function useToday(): Day {
  return useSyncExternalStore(listen, () => dayOf(new Date()));
}

function listen(listener: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = () => {
    const now = new Date();
    timer = setTimeout(turn, beginOf(daysLater(dayOf(now), 1)).getTime() - now.getTime());
  };
  // A clock may run a little fast or slow: whether it is the next day yet is looked up, not taken for granted.
  const turn = () => {
    listener();
    wait();
  };
  wait();
  // A machine that slept through midnight has slept through the timer, too.
  document.addEventListener("visibilitychange", listener);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", listener);
  };
}
