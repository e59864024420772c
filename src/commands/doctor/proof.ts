// The key that signs the roots of sealed days: whether there is one, and whether it is that of the last root.

import { whereIs } from "../../app/compose/database.ts";
import { existingProofKeys, makesOwnProofKey } from "../../app/compose/proof.ts";
import type { Config } from "../../app/config/config.ts";
import { hasSealTables, lastRoot, type SignedRoot } from "../../billing/proof/seal-store.ts";
import { inReadOnly } from "../../database/inspect.ts";
import type { Look } from "../../database/throttled-reader.ts";
import { type Check, failed, type Finding, ok, type CheckContext, warning } from "./check.ts";

const NAME = "proof key";

/** The check of the proof key. It begins when the database has been looked at. */
export function proofChecks({ config }: CheckContext, { isReadable }: { isReadable: Promise<boolean> }): Check[] {
  return [
    {
      name: NAME,
      waitsForDatabase: true,
      advice: "Look at SALDO_PROOF_KEY.",
      async look() {
        if (!(await isReadable)) return [];
        const root = await inReadOnly(whereIs(config), async (client) => {
          const look: Look = async (text, values = []) => (await client.query(text, [...values])).rows;
          return (await hasSealTables(look)) ? lastRoot(look) : undefined;
        });
        return [await findingOf(config, root)];
      },
    },
  ];
}

async function findingOf(config: Config, root: SignedRoot | undefined): Promise<Finding> {
  const keys = await existingProofKeys(config);
  if (root === undefined) {
    if (keys.length > 0) return ok(NAME, "is set; no day is sealed yet");
    return makesOwnProofKey(config)
      ? ok(NAME, "there is none yet; the first sealed day makes one")
      : warning(
          NAME,
          "SALDO_PROOF_KEY is not set, so no day is sealed and no statement proves anything",
          "Set it to 32 random characters or more, the same on every node that works in the background.",
        );
  }
  const ofRoot = new Set(root.signatures.map(({ key }) => key));
  if (keys.some(({ id }) => ofRoot.has(id))) return ok(NAME, "signed the last sealed day");
  if (keys.length === 0)
    return warning(
      NAME,
      "days were sealed, and this node has no key",
      "Set SALDO_PROOF_KEY to the key of those days, or put the file proof-key back into SALDO_DATA_DIR.",
    );
  return failed(
    NAME,
    "is not one that signed the last sealed day, so the full audit reports the days before",
    "Write the former key behind a comma after the new one until a day is sealed.",
  );
}
