// Pages that are public: in the usual frame for signed-in people, and in a plain one for others.

import { useQuery } from "@connectrpc/connect-query";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Inside } from "./inside.tsx";
import { PublicFrame } from "./public-frame.tsx";
import { readerOf } from "./signed-in.tsx";
import { isStranger } from "./stranger.ts";

/**
 * The frame; the page renders in its outlet. That there is no session is a valid answer here and is not fetched again: a
 * new fetch while a frame is shown would remove it.
 */
export function OpenToAll() {
  const once = { retryOnMount: false, refetchOnWindowFocus: false, refetchOnReconnect: false };
  const { data, isError } = useQuery(AccountsService.method.getMe, {}, { ...once, enabled: !isStranger() });
  return isStranger() || isError ? <PublicFrame /> : <Inside reader={readerOf(data)} />;
}
