// How long answers are kept and when they are fetched again.

import { Code, ConnectError } from "@connectrpc/connect";
import { QueryClient } from "@tanstack/react-query";

/** An answer younger than this is shown without fetching it again. */
const FRESH_MS = 15_000;
const MOST_RETRIES = 2;

/** Errors that a retry cannot mend. */
const FINAL: ReadonlySet<Code> = new Set([
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.NotFound,
  Code.InvalidArgument,
  Code.FailedPrecondition,
  Code.Unimplemented,
]);

/** The one query client of the page. */
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
