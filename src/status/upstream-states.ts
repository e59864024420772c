// The state of an upstream and its incidents, from the counts of its calls by minute.

import type { Component, Incident, State } from "./status.ts";

/** The calls of an upstream in one minute. */
export type MinuteOfCalls = { readonly minute: Date; readonly answered: number; readonly failed: number };

const MINUTE_MS = 60_000;
/** A minute is judged with those before it, because many upstreams have few calls in one. */
const JUDGED_MS = 5 * MINUTE_MS;
/** Fewer failures than this may be those of one request. */
const LEAST_FAILED = 5;
const DEGRADED_SHARE = 0.1;
const DOWN_SHARE = 0.9;
/** A state is believed for so long without a call. */
const BELIEVED_MS = 15 * MINUTE_MS;
/** How many incidents are shown. */
const MOST_INCIDENTS = 10;

type Change = { readonly at: Date; readonly state: Exclude<State, "unknown"> };

/** The component of an upstream. `minutes` in any order, several of one minute are added up. */
export function upstreamComponent(name: string, minutes: readonly MinuteOfCalls[], nowMs: number): Component {
  const changes = changesOf(minutes, nowMs);
  const last = changes.at(-1);
  return {
    kind: "upstream",
    name,
    state: last?.state ?? "operational",
    since: last?.at ?? null,
    incidents: incidentsOf(changes).toReversed().slice(0, MOST_INCIDENTS),
  };
}

/** Every change of the state, oldest first. The first is to a state that is not operational. */
function changesOf(minutes: readonly MinuteOfCalls[], nowMs: number): Change[] {
  const sorted = minutes.toSorted((one, other) => one.minute.getTime() - other.minute.getTime());
  const changes: Change[] = [];
  const change = (at: number, state: Change["state"]): void => {
    if ((changes.at(-1)?.state ?? "operational") !== state) changes.push({ at: new Date(at), state });
  };
  let first = 0;
  let [answered, failed] = [0, 0];
  let judgedAt = Number.NEGATIVE_INFINITY;
  for (const [index, row] of sorted.entries()) {
    const at = row.minute.getTime();
    answered += row.answered;
    failed += row.failed;
    for (let old = sorted[first]; old !== undefined && old.minute.getTime() <= at - JUDGED_MS; old = sorted[first]) {
      answered -= old.answered;
      failed -= old.failed;
      first += 1;
    }
    // The minute is complete with its last row.
    if (sorted[index + 1]?.minute.getTime() === at) continue;
    if (at > judgedAt + BELIEVED_MS) change(judgedAt + BELIEVED_MS, "operational");
    change(at, judge(answered, failed));
    judgedAt = at;
  }
  if (nowMs > judgedAt + BELIEVED_MS) change(judgedAt + BELIEVED_MS, "operational");
  return changes;
}

function judge(answered: number, failed: number): Change["state"] {
  if (failed < LEAST_FAILED) return "operational";
  const share = failed / (answered + failed);
  if (share >= DOWN_SHARE) return "down";
  return share >= DEGRADED_SHARE ? "degraded" : "operational";
}

function incidentsOf(changes: readonly Change[]): Incident[] {
  const incidents: Incident[] = [];
  for (const { at, state } of changes) {
    const last = incidents.at(-1);
    const open = last?.endedAt === null ? last : undefined;
    if (open !== undefined) incidents.pop();
    if (state === "operational") incidents.push(...(open === undefined ? [] : [{ ...open, endedAt: at }]));
    else
      incidents.push({ state: open?.state === "down" ? "down" : state, beganAt: open?.beganAt ?? at, endedAt: null });
  }
  return incidents;
}
