import { useQuery } from "@connectrpc/connect-query";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";

/** As many keys as one answer holds. */
const MOST_KEYS = 200;

/** The account's keys, including revoked ones and the playground's. */
export function useAllKeys() {
  return useQuery(KeysService.method.listKeys, { pageSize: MOST_KEYS });
}

/** Whether a program can use a key: it is not revoked, and is not the playground's, which has no secret. */
export function isUsable({ isPlayground, revokedAt }: ApiKey): boolean {
  return !isPlayground && revokedAt === undefined;
}
