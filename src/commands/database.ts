import type { Command } from "./command.ts";
import { inAll } from "./every-cell.ts";

export const databaseCommands: readonly Command[] = [
  {
    name: "migrate",
    about: "Brings the database's schema up to date. Starting the server does the same.",
    options: {},
    run: (_values, context) =>
      inAll(context, async ({ database }) => {
        // Opening migrates.
        await database();
        return { json: { ok: true }, text: "The schema is up to date." };
      }),
  },
];
