// Guards of the security log as it is read, and of what operators see of service tokens.

import type { PlantedBug } from "../planted-bug.ts";

const READ_LOG = "src/identity/read-security-log.ts";
const log = (test: string) => ({ file: "test/identity/end-sessions.test.ts", test });
const onPage = (file: string, test: string) => ({ file: `src/dashboard/pages/operator/${file}`, test });

/** Each with the test that must notice it. */
export const SECURITY_LOG_BUGS: readonly PlantedBug[] = [
  {
    name: "whoever serves may have the security log forget everything",
    edits: [
      {
        file: "src/database/functions/security_log.sql",
        find: "- greatest(days, 7) * interval",
        replace: "- days * interval",
      },
    ],
    noticedBy: {
      file: "test/database/kept-security-log.test.ts",
      test: "is never changed, and no line of the last days is removed",
    },
  },
  {
    name: "the owner of the tables changes lines of the security log",
    edits: [
      {
        file: "src/database/migrations/0002-kept-security-log.sql",
        find: "BEFORE UPDATE OR DELETE ON auth.security_event",
        replace: "BEFORE DELETE ON auth.security_event",
      },
    ],
    noticedBy: {
      file: "test/database/kept-security-log.test.ts",
      test: "is never changed, and no line of the last days is removed",
    },
  },
  {
    name: "lines of the security log stay in the database alone",
    edits: [
      {
        file: "src/identity/security-log.ts",
        find: "if (!shown.has(row)) onLine(",
        replace: 'if (!shown.has(row) && row.outcome === "succeeded") onLine(',
      },
    ],
    noticedBy: {
      file: "test/identity/recorded-sign-in.test.ts",
      test: "each line of the security log is in the process log as well, once, with its id and without an address",
    },
  },
  {
    name: "an address finds only the security events that have its hash",
    edits: [
      {
        file: READ_LOG,
        find: "e.email_hash = ANY ($4::text[]) OR e.person_id = (SELECT id FROM auth.person WHERE email = $7::text)",
        replace: "e.email_hash = ANY ($4::text[]) OR $7::text IS NULL",
      },
    ],
    noticedBy: log("the security log is read by call and by command"),
  },
  {
    name: "an address is looked up under the secret of now alone",
    edits: [
      {
        file: READ_LOG,
        find: "(await secrets()).map((secret)",
        replace: "(await secrets()).slice(0, 1).map((secret)",
      },
    ],
    noticedBy: {
      file: "test/identity/security-log.test.ts",
      test: "the lines of an address are found also after another secret has come before the one of their time",
    },
  },
  {
    name: "security events of every account are listed for one",
    edits: [{ file: READ_LOG, find: "AND ($8::uuid IS NULL OR", replace: "AND ($8::uuid IS NULL OR true OR" }],
    noticedBy: log("the security log is read by call and by command"),
  },
  {
    name: "what operators read is always in the list of security events",
    edits: [{ file: READ_LOG, find: "OR NOT $9::boolean OR", replace: "OR NOT $9::boolean OR true OR" }],
    noticedBy: log("the security log is read by call and by command"),
  },
  {
    name: "an id of a person is looked up as an e-mail address",
    edits: [
      {
        file: "src/dashboard/pages/operator/security/security-search.ts",
        find: "const isId = UUID.test(who);",
        replace: "const isId = UUID.test(person);",
      },
    ],
    noticedBy: onPage("security/security-search.test.ts", "takes an id of a person and an e-mail address"),
  },
  {
    name: "a service token that has ended is shown as active",
    edits: [
      {
        file: "src/dashboard/pages/operator/service-tokens/token-state.ts",
        find: "timestampMs(expiresAt) <= nowMs",
        replace: "timestampMs(expiresAt) < nowMs",
      },
    ],
    noticedBy: onPage("service-tokens/token-state.test.ts", "distinguishes working, expired and revoked tokens"),
  },
];
