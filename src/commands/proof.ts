import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { proofKeysOf } from "../app/compose/proof.ts";
import { sealDays } from "../billing/proof/seal.ts";
import { readRoot } from "../billing/proof/send-roots.ts";
import { fileLines } from "../billing/proof/file-lines.ts";
import { exportStatement, inPieces } from "../billing/proof/statement.ts";
import { verifyStatement } from "../billing/proof/verify.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { type Command, UsageError } from "./command.ts";
import { dayOption } from "./option-values.ts";
import { accountFrom, accountOption } from "./which-account.ts";

export const proofCommands: readonly Command[] = [
  {
    name: "proof seal",
    about: "Seals the books of all days that have ended, and signs their root.",
    options: {
      day: {
        required: false,
        value: "DAY",
        about: "the last day to seal, in Asia/Jakarta; left out: the last that can be",
      },
    },
    async run(values, { config, database }) {
      const day = values.get("day");
      const { pool } = await database();
      const keys = await proofKeysOf(config);
      if (keys.length === 0) throw new UsageError("saldo proof seal: SALDO_PROOF_KEY is not set.");
      const root = await sealDays(pool, { keys, share: 1, ...(day && { day: dayOption(day, "day") }) });
      if (root === null) return { json: { sealed: false }, text: "No day can be sealed yet.", ok: false };
      const { text, signatures } = root;
      return {
        json: {
          sealed: true,
          ...(JSON.parse(text) as Record<string, unknown>),
          keys: signatures.map(({ key }) => key),
        },
      };
    },
  },
  {
    name: "statement export",
    about: "Writes an account's statement with its proof, as JSON Lines. It is verified without the database.",
    options: {
      account: accountOption,
      to: { required: true, value: "FILE", about: "a file that does not exist yet" },
      after: { required: false, value: "DAY", about: "leaves out what was sealed up to this day" },
      through: { required: false, value: "DAY", about: "the last day; left out: the last that is sealed" },
    },
    async run(values, { database }) {
      const [after, through] = [values.get("after"), values.get("through")];
      const { pool } = await database();
      const statement = exportStatement(pool, {
        accountId: await accountFrom(values, database),
        ...(after && { after: dayOption(after, "after") }),
        ...(through && { through: dayOption(through, "through") }),
      });
      const path = values.need("to");
      await using file = await open(path, "wx", 0o600);
      let bytes = 0;
      for await (const piece of inPieces(statement)) {
        await file.appendFile(piece);
        bytes += piece.length;
      }
      await file.sync();
      return { json: { path, bytes } };
    },
  },
  {
    name: "verify",
    about: "Verifies a statement without the database: costs, balance, digests, path and signatures.",
    options: {
      root: {
        required: false,
        value: "FILE",
        about: "roots from another place, a line each; the statement's must be among them",
      },
      key: { required: false, value: "KEY", about: "the public key that must have signed the root, as Base64" },
    },
    positionals: ["FILE"],
    async run(values) {
      const [path = ""] = values.positionals;
      const [roots, key] = [await rootsIn(values.get("root")), values.get("key")];
      const trust = { ...(roots && { roots }), ...(key && { key }) };
      const { balance, ...verified } = await verifyStatement(fileLines(createReadStream(path)), trust);
      return { json: { ...verified, balance: formatMoney(idr(balance)) }, ok: verified.ok };
    },
  },
];

/** A line that is no root, such as one that was written in part, is left out. */
async function rootsIn(path: string | undefined): Promise<ReadonlySet<string> | null> {
  if (path === undefined) return null;
  return new Set((await readFile(path, "utf8")).split("\n").flatMap(readRoot));
}
