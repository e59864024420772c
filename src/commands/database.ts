import { audit } from "../ledger/audit.ts";
import type { Command } from "./command.ts";

export const databaseCommands: readonly Command[] = [
  {
    name: "migrate",
    about: "Brings the database's schema up to date. Starting the server does the same.",
    options: {},
    async run(_values, { database }) {
      // Opening migrates.
      await database();
      return { json: { ok: true }, text: "The schema is up to date." };
    },
  },
  {
    name: "audit",
    about: "Checks every invariant of the ledger; exits with 1 when one is broken.",
    options: {},
    async run(_values, { database }) {
      const report = await audit((await database()).pool);
      const text = report.ok
        ? "The books are in order."
        : report.violations.map(({ check, subject, detail }) => `${check}\n  ${subject}: ${detail}`).join("\n");
      return { json: report, text, ok: report.ok };
    },
  },
];
