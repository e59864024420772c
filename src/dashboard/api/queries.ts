// How answers are kept and when they are asked for again.

import { Code, ConnectError } from "@connectrpc/connect";
import { QueryClient } from "@tanstack/react-query";

/** An answer younger than this is shown without asking again. */
const FRESH_MS = 15_000;
const MOST_RETRIES = 2;

/** What another try cannot mend. */
const FINAL: ReadonlySet<Code> = new Set([
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.NotFound,
  Code.InvalidArgument,
  Code.FailedPrecondition,
  Code.Unimplemented,
]);

/** One for the whole page. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: (failures, error) => failures < MOST_RETRIES && !FINAL.has(ConnectError.from(error).code),
        retryDelay: (attempt) => Math.min(1_000 * 2 ** attempt, 15_000),
      },
      mutations: { retry: false },
    },
  });
}
