// The process: `npm run saldo-agents --`, and the one file of the package that a gateway serves. It runs on Node 20.12.

import { homedir } from "node:os";
import process from "node:process";
import { run } from "./run.ts";
import { createPerson } from "./wizard.ts";

/** Put in by the build of the package; the sources know no gateway. */
declare const SERVED_BY: string | undefined;

const { stdin, stdout } = process;

process.exitCode = await run(process.argv.slice(2), {
  machine: { platform: process.platform, home: process.env["HOME"] || homedir(), env: process.env },
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  now: () => new Date(),
  folder: process.cwd(),
  servedBy: typeof SERVED_BY === "string" ? SERVED_BY : null,
  person: stdin.isTTY && stdout.isTTY ? createPerson({ input: stdin, output: stdout }) : null,
});
