// Shared by the list of keys and its dialogs.

import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";

/** The open dialog, and its key. */
export type KeyTask = { readonly what: "edit" | "revoke"; readonly key: ApiKey };

/** The cost of each key in 30 days; undefined while it is not loaded. */
export type SpentByKey = { readonly get: (keyId: string) => string | undefined };
