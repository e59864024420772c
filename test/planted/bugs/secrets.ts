// Guards of secrets: how settings are read, how secrets are stored, and how transactions are signed outside the process.

import type { PlantedBug } from "../planted-bug.ts";

const settingFiles = (test: string) => ({ file: "test/app/setting-files.test.ts", test });

/** Each with the test that must notice it. */
export const SECRET_BUGS: readonly PlantedBug[] = [
  {
    name: "a secret of a file replaces one of the environment",
    edits: [
      {
        file: "src/app/config/environment.ts",
        find: "if (value !== null) throw new ConfigError(`${name} and ${name}_FILE must not be set both`);",
        replace: "",
      },
    ],
    noticedBy: settingFiles("reads SALDO_AUTH_SECRET from a file"),
  },
  {
    name: "a secret of a file keeps the end of its line",
    edits: [
      {
        file: "src/app/config/environment.ts",
        find: 'value = readFileSync(file, "utf8").trim();',
        replace: 'value = readFileSync(file, "utf8");',
      },
    ],
    noticedBy: settingFiles("reads DATABASE_URL from a file"),
  },
  {
    name: "a file that others can read is not mentioned",
    edits: [
      {
        file: "src/app/config/environment.ts",
        find: "const OPEN_MODES = 0o027;",
        replace: "const OPEN_MODES = 0o020;",
      },
    ],
    noticedBy: settingFiles("advises to shut a file of mode 0604"),
  },
];
