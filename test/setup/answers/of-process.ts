// Preloaded into a process of a test by `--import`: what is wrong with its answers goes to standard error, a line each.

import { watchAnswers } from "./watch.ts";

watchAnswers((problem) => process.stderr.write(`${JSON.stringify({ undocumented: problem })}\n`));
