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
];
