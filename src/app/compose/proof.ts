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

type KeySettings = Pick<Config, "proofKeys" | "databaseUrl" | "production" | "dataDir">;

/**
 * The keys that sign roots. With the embedded database outside production, where none is set, the first call makes one in the data folder.
 * Empty: nothing can be sealed.
 */
export async function proofKeysOf(config: KeySettings): Promise<ProofKey[]> {
  const existing = await existingProofKeys(config);
  if (existing.length > 0 || !makesOwnProofKey(config)) return existing;
  await putOwnKey(config.dataDir, randomBytes(KEY_BYTES).toString("base64"), OWN_PROOF_KEY_FILE);
  return existingProofKeys(config);
}

/** The keys that sign roots, where there are some: none is made. */
export async function existingProofKeys(config: KeySettings): Promise<ProofKey[]> {
  if (!makesOwnProofKey(config)) return config.proofKeys.map(proofKey);
  const own = await readOwnKey(config.dataDir, OWN_PROOF_KEY_FILE);
  return own === null ? [] : [proofKey(own)];
}

/** Whether a node with these settings signs by a key that it makes itself. */
export function makesOwnProofKey({ proofKeys, databaseUrl, production }: KeySettings): boolean {
  return proofKeys.length === 0 && databaseUrl === null && !production;
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
