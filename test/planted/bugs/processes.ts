// Guards of a process that must go on, or end in order, whatever happens around it.

import type { PlantedBug } from "../planted-bug.ts";

const reader = (test: string) => ({ file: "test/app/log-reader.test.ts", test });
const lastResort = (test: string) => ({ file: "test/app/last-resort.test.ts", test });

/** Each with the test that must notice it. */
export const PROCESS_BUGS: readonly PlantedBug[] = [
  {
    name: "two runs of the helper remove the lock of a dead one after each other",
    edits: [
      {
        file: "src/agents/files/agent-lock.ts",
        find: "if (!(await isLeft(path)) || !(await removeLeft(path)))",
        replace: "if (await isLeft(path)) await rm(path, { force: true });\n    else",
      },
    ],
    noticedBy: {
      file: "test/agents/agent-lock.test.ts",
      test: "runs that find the lock of a dead one enter one by one",
    },
  },
  {
    name: "a stop waits for the reader of the log for ever",
    edits: [
      {
        file: "src/app/observability/log-stream.ts",
        find: "while (this.#waiting.length > 0 && performance.now() < until) {",
        replace: "while (this.#waiting.length > 0 && until > 0) {",
      },
    ],
    noticedBy: reader("while the reader of its output does not read"),
  },
  {
    name: "a line that the disk does not take ends the process",
    edits: [
      {
        file: "src/app/observability/log-stream.ts",
        find: 'if (errorCode(error) === "EAGAIN") return false;',
        replace:
          'if (errorCode(error) === "EAGAIN") return false;\n      if (errorCode(error) === "ENOSPC") throw error;',
      },
    ],
    noticedBy: reader("while the disk under its log is full"),
  },
  {
    name: "a fault that nothing caught ends the process at once",
    edits: [
      { file: "src/app/process/last-resort.ts", find: "    first.resolve();", replace: "    process.exit(FAILED);" },
    ],
    noticedBy: lastResort("that nothing caught, ends and bills what runs"),
  },
];
