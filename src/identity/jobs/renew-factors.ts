import type { Pool } from "pg";
import { createFactorSecrets, renewAllFactors } from "../second-factor/factor-secrets.ts";
import type { Tick } from "../../workers/tick.ts";

const EVERY_MS = 3_600_000;

export type RenewFactorsOptions = {
  readonly pool: Pool;
  /** The first encrypts, all decrypt. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly onUnreadable: (personId: string) => void;
};

/** Encrypts the secrets of apps again that are under a former secret, at the start and where another node still used it. */
export function renewFactorsTick({ pool, secrets, onUnreadable }: RenewFactorsOptions): Tick {
  return {
    name: "renew second factors",
    everyMs: EVERY_MS,
    run: async () => renewAllFactors(pool, createFactorSecrets(await secrets()), onUnreadable),
  };
}
