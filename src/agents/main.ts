// The process: `npm run saldo-agents --`, and the one file of the package that a gateway or a registry serves. It runs on Node 20.12.

import { homedir } from "node:os";
import process from "node:process";
import { packageVersion } from "../kernel/version.ts";
import { run } from "./run.ts";
import { createPerson } from "./wizard.ts";

// Both are set by the build of the package. The sources were served by no gateway, and read their version.
declare const SERVED_BY: string | undefined;
declare const PACKAGE_VERSION: string | undefined;

const { stdin, stdout } = process;

process.exitCode = await run(process.argv.slice(2), {
  machine: { platform: process.platform, home: process.env["HOME"] || homedir(), env: process.env },
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  now: () => new Date(),
  folder: process.cwd(),
  version: typeof PACKAGE_VERSION === "string" ? PACKAGE_VERSION : packageVersion(),
  servedBy: typeof SERVED_BY === "string" ? SERVED_BY : null,
  isPackaged: typeof PACKAGE_VERSION === "string",
  person: stdin.isTTY && stdout.isTTY ? createPerson({ input: stdin, output: stdout }) : null,
});
