// Fetches promtool before the tests of CI, which fail without it. Once more after a failure: a package server may be slow for a moment.

import { findPromtool } from "./promtool.ts";

const TRIES = 2;

let missing = "";
for (let each = 0; each < TRIES; each += 1) {
  const found = findPromtool();
  missing = "missing" in found ? found.missing : "";
  if (missing === "") break;
}
if (missing !== "") {
  process.stderr.write(`promtool: ${missing}\n`);
  process.exitCode = 1;
}
