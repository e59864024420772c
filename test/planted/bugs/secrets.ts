// Guards of secrets: how settings are read, how secrets are stored, and how transactions are signed outside the process.

import type { PlantedBug } from "../planted-bug.ts";

const atRest = (test: string) => ({ file: "test/app/secrets-at-rest.test.ts", test });
const ofService = (test: string) => ({ file: "test/app/secrets-of-a-service.test.ts", test });
const sealedText = (test: string) => ({ file: "src/kernel/sealed-text.test.ts", test });
const settingFiles = (test: string) => ({ file: "test/app/setting-files.test.ts", test });

/** Each with the test that must notice it. */
export const SECRET_BUGS: readonly PlantedBug[] = [
  {
    name: "a rotation makes the new key the only one before it is complete",
    edits: [
      {
        file: "src/database/secrets/rotate-secrets.ts",
        find: "if (!keepsState) await setSecretForm(pool, form);",
        replace: "if (!keepsState) await setSecretForm(pool, form).then(() => moveKeyCheck(pool));",
      },
    ],
    noticedBy: { file: "test/app/secrets-at-rest.test.ts", test: "one that is stopped in the middle is run again" },
  },
  {
    name: "a start looks at no secret once there is a key",
    edits: [
      {
        file: "src/database/secrets/secret-state.ts",
        find: "const { hasFormer, unreadable } = await readOutdated(client, columns);",
        replace: "const { hasFormer, unreadable } = await readOutdated(client, []);",
      },
    ],
    noticedBy: { file: "test/app/secrets-at-rest.test.ts", test: "a start names secrets that none of its keys reads" },
  },
  {
    name: "a secret of a file replaces one of the environment",
    edits: [
      {
        file: "src/app/config/environment.ts",
        find: "if (value !== null) throw new ConfigError(`${name} and ${name}_FILE must not be set both`);",
        replace: "",
      },
    ],
    noticedBy: settingFiles("from a file, without the line's end, and refuses both"),
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
    noticedBy: settingFiles("from a file, without the line's end, and refuses both"),
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
    noticedBy: settingFiles("advises to shut a file of mode"),
  },
  {
    name: "a secret is bound to no row",
    edits: [
      {
        file: "src/callbacks/settings-store.ts",
        find: "nameOf: (column, receiverId) => `${settings}.${column}/${receiverId}`,",
        replace: "nameOf: (column) => `${settings}.${column}`,",
      },
    ],
    noticedBy: atRest("a secret is nothing in another row"),
  },
  {
    name: "a secret is bound to no column",
    edits: [
      {
        file: "src/callbacks/settings-store.ts",
        find: "nameOf: (column, receiverId) => `${settings}.${column}/${receiverId}`,",
        replace: "nameOf: (_column, receiverId) => `${settings}/${receiverId}`,",
      },
    ],
    noticedBy: atRest("a secret is nothing in another row"),
  },
  {
    name: "an app's secret is bound to no person",
    edits: [
      {
        file: "src/identity/second-factor/second-factor-store.ts",
        find: "return `auth.two_factor.secret/${personId}`;",
        replace: "return `auth.two_factor.secret/${personId.length}`;",
      },
    ],
    noticedBy: ofService("an app's secret is nothing to another person"),
  },
  {
    name: "data of an envelope is bound to nothing",
    edits: [
      {
        file: "src/kernel/sealed-text.ts",
        find: "{ authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));\n  const sealed",
        replace: "{ authTagLength: TAG_BYTES });\n  const sealed",
      },
      {
        file: "src/kernel/sealed-text.ts",
        find: "{ authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));\n    decipher",
        replace: "{ authTagLength: TAG_BYTES });\n    decipher",
      },
    ],
    noticedBy: sealedText("opens nothing that was changed"),
  },
  {
    name: "a database of the version before gets envelopes at once",
    edits: [
      {
        file: "src/database/secrets/secret-state.ts",
        find: "if (keyCheck !== null) openText(CHECK, keyCheck);\n  return form;",
        replace: 'if (keyCheck !== null) openText(CHECK, keyCheck);\n  return form === "former" ? "envelope" : form;',
      },
    ],
    noticedBy: atRest("a database that was served before keeps the former form"),
  },
  {
    name: "a process with a wrong master key stores secrets",
    edits: [
      {
        file: "src/database/secrets/secret-state.ts",
        find: "if (keyCheck !== null) openText(CHECK, keyCheck);\n  return form;",
        replace: "return form;",
      },
    ],
    noticedBy: atRest("names the missing key, and changes nothing"),
  },
  {
    name: "a change of the key takes back what was changed meanwhile",
    edits: [
      {
        file: "src/database/secrets/secret-columns.ts",
        find: "WHERE ${id} = $1::${idType} AND ${column} = $2`;",
        replace: "WHERE ${id} = $1::${idType} AND $2::text IS NOT NULL`;",
      },
    ],
    noticedBy: atRest("a secret that is changed meanwhile keeps the change"),
  },
  {
    name: "a start without the key of its database serves",
    edits: [
      {
        file: "src/app/process/node.ts",
        find: "await prepareSecrets(database, config, logger);",
        replace: "await prepareSecrets(database, config, logger).catch(() => {});",
      },
    ],
    noticedBy: ofService("a start with another master key, or with none, is refused"),
  },
];
