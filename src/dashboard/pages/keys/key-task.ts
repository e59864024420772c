// What the list of keys and its dialogs share.

import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";

/** What is done to a key now. */
export type KeyTask = { readonly what: "rename" | "revoke"; readonly key: ApiKey };

/** What each key came to in 30 days; undefined while it is not known. */
export type SpentByKey = { readonly get: (keyId: string) => string | undefined };
