// Streaming load: a fixed number of streams at any moment, each followed by the next on the same connection.

import { runClosedLoop, type LoadResult } from "./closed-loop.ts";
import type { LoadOptions } from "./load-window.ts";
import { StreamReader, TRUNCATED, WITHOUT_USAGE } from "./stream-reader.ts";

export type SseLoadResult<Metered> = LoadResult<Metered> & {
  readonly truncated: number;
  readonly withoutUsage: number;
};

/** Asks for streams, which begin evenly over the warm-up: so they end, and are followed, evenly too. */
export async function runSseLoad<Metered>(options: LoadOptions<Metered>): Promise<SseLoadResult<Metered>> {
  const result = await runClosedLoop(options, {
    stream: true,
    rampSeconds: options.warmUpSeconds,
    newReader: () => new StreamReader(),
  });
  return { ...result, truncated: result.failures.of(TRUNCATED), withoutUsage: result.failures.of(WITHOUT_USAGE) };
}
