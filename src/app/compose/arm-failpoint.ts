// Loaded by a start with SALDO_FAILPOINT, which only a demo accepts (app/config/safety.ts).

import { observeFailpoints } from "../../kernel/failpoint.ts";
import type { FailpointSetting } from "../config/failpoint-setting.ts";

/** Calls `die` when the place is reached for the nth time. Returns what disarms it. */
export function armFailpoint({ name, nth }: FailpointSetting, die: () => void): () => void {
  let times = 0;
  observeFailpoints((reached) => {
    if (reached !== name) return;
    times += 1;
    if (times === nth) die();
  });
  return () => observeFailpoints(undefined);
}
