// What a model accepts, in the words of the file: `accepts` of a model, and the same in the database.

import { type Accepts, LEAST_ACCEPTED } from "./catalog-model.ts";
import type { FileField } from "./file-field.ts";

const THINKING = ["adaptive", "manual", "none"] as const satisfies readonly Accepts["thinking"][];

/** What the file has of `accepts`. */
export type WrittenAccepts = {
  readonly thinking?: Accepts["thinking"];
  readonly sampling?: boolean;
  readonly prefill?: boolean;
  readonly cache_markers?: boolean;
};

/** Reads `accepts`. Undefined: it is left out, or has the defaults alone. */
export function readAccepts(field: FileField): Accepts | undefined {
  const at = field.isAbsent ? null : field.mapping(["thinking", "sampling", "prefill", "cache_markers"]);
  if (at === null) return undefined;
  return unusualAccepts({
    thinking: at.thinking.oneOf(THINKING, LEAST_ACCEPTED.thinking) ?? LEAST_ACCEPTED.thinking,
    sampling: at.sampling.flag(LEAST_ACCEPTED.sampling),
    prefill: at.prefill.flag(LEAST_ACCEPTED.prefill),
    cacheMarkers: at.cache_markers.flag(LEAST_ACCEPTED.cacheMarkers),
  });
}

/** Writes `accepts` without its defaults. */
export function writeAccepts({ thinking, sampling, prefill, cacheMarkers }: Accepts): WrittenAccepts {
  return {
    ...(thinking === LEAST_ACCEPTED.thinking ? {} : { thinking }),
    ...(sampling === LEAST_ACCEPTED.sampling ? {} : { sampling }),
    ...(prefill === LEAST_ACCEPTED.prefill ? {} : { prefill }),
    ...(cacheMarkers === LEAST_ACCEPTED.cacheMarkers ? {} : { cache_markers: cacheMarkers }),
  };
}

/** Reads what was written. */
export function parseAccepts({ cache_markers: cacheMarkers, ...written }: WrittenAccepts): Accepts {
  return { ...LEAST_ACCEPTED, ...written, ...(cacheMarkers === undefined ? {} : { cacheMarkers }) };
}

function unusualAccepts(accepts: Accepts): Accepts | undefined {
  return Object.keys(writeAccepts(accepts)).length === 0 ? undefined : accepts;
}
