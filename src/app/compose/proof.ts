// What signs the roots of the books, and where they are sent.

import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { proofTick } from "../../billing/jobs/proof.ts";
import { type ProofKey, proofKey } from "../../billing/proof/signing.ts";
import type { Config } from "../config/config.ts";
import type { Tick } from "../../workers/tick.ts";
import type { Mailer } from "../../identity/mailer.ts";
import { putOwnKey, readOwnKey } from "./secrets.ts";

/** The file of a data folder with the key that signs roots, which the first seal made itself. */
export const OWN_PROOF_KEY_FILE = "proof-key";
const KEY_BYTES = 48;

/**
 * The keys that sign roots. With the embedded database outside production, where none is set, the first call makes one in the data folder.
 * Empty: nothing can be sealed.
 */
export async function proofKeysOf(
  config: Pick<Config, "proofKeys" | "databaseUrl" | "production" | "dataDir">,
): Promise<ProofKey[]> {
  const existing = await existingProofKeys(config);
  const { databaseUrl, production, dataDir } = config;
  if (existing.length > 0 || databaseUrl !== null || production) return existing;
  await putOwnKey(dataDir, randomBytes(KEY_BYTES).toString("base64"), OWN_PROOF_KEY_FILE);
  return existingProofKeys(config);
}

/** The keys that sign roots, where there are some: none is made. */
export async function existingProofKeys({
  proofKeys,
  databaseUrl,
  production,
  dataDir,
}: Parameters<typeof proofKeysOf>[0]): Promise<ProofKey[]> {
  if (proofKeys.length > 0 || databaseUrl !== null || production) return proofKeys.map(proofKey);
  const own = await readOwnKey(dataDir, OWN_PROOF_KEY_FILE);
  return own === null ? [] : [proofKey(own)];
}

/** Seals the books by the settings of this node. */
export function createProofTick(pool: Pool, { config, mailer }: { config: Config; mailer: Mailer }): Tick {
  const { proofFile, proofMailTo, proofWebhookUrl } = config;
  return proofTick({
    pool,
    keys: () => proofKeysOf(config),
    places: {
      file: proofFile,
      mail: proofMailTo === null ? null : (mail) => mailer.send({ to: proofMailTo, ...mail }),
      webhook: proofWebhookUrl,
    },
  });
}
