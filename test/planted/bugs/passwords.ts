// Guards of a new password: the published list, and the look-up among those of breaches.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const lookUp = (find: string, replace: string): readonly Edit[] => [
  { file: "src/identity/passwords/breached-passwords.ts", find, replace },
];
const alone = (test: string) => ({ file: "test/identity/breached-passwords.test.ts", test });
const served = (test: string) => ({ file: "test/identity/new-passwords.test.ts", test });

/** Each with the test that must notice it. */
export const PASSWORD_BUGS: readonly PlantedBug[] = [
  {
    name: "the published list of passwords is not asked",
    edits: [
      {
        file: "src/identity/passwords/passwords.ts",
        find: "if (isListedPassword(password)) return true;",
        replace: "if (isListedPassword(email)) return true;",
      },
    ],
    noticedBy: served("of the published list is refused at sign-up, at a change and at a reset"),
  },
  {
    name: "a capital letter takes a password off the published list",
    edits: [
      {
        file: "src/identity/passwords/listed-passwords.ts",
        find: 'hash("sha256", password.toLowerCase(), "hex")',
        replace: 'hash("sha256", password, "hex")',
      },
    ],
    noticedBy: served("of the published list is refused at sign-up, at a change and at a reset"),
  },
  {
    name: "breached passwords are looked up at sign-up alone",
    edits: [
      {
        file: "src/identity/sign-in/sign-in.ts",
        find: 'if (typeof password === "string" && route.newPassword !== undefined)',
        replace: 'if (typeof password === "string" && route.newPassword === "password")',
      },
    ],
    noticedBy: served("of a breach is refused at sign-up, at a change and at a reset"),
  },
  {
    name: "an operator may have a breached password",
    edits: [
      {
        file: "src/identity/operator-invites.ts",
        find: 'await breachedPasswords.refuse("password", password);',
        replace: 'await breachedPasswords.refuse("password", "");',
      },
    ],
    noticedBy: served("of a breach makes no operator"),
  },
  {
    name: "nobody can choose a password while the server of breaches is away",
    edits: lookUp("return false;\n    }\n  }", "return true;\n    }\n  }"),
    noticedBy: served("is taken with a warning while the server of breaches is away"),
  },
  {
    name: "the whole digest of a password is sent",
    edits: lookUp("await linesOf(digest.slice(0, PREFIX_LENGTH))", "await linesOf(digest)"),
    noticedBy: alone("five digits of the digest are sent and nothing else of the password"),
  },
  {
    name: "padding is taken for a breach",
    edits: lookUp("Number(found.slice(wanted.length)) > 0", "Number(found.slice(wanted.length)) >= 0"),
    noticedBy: alone("a line of padding counts for nothing"),
  },
  {
    name: "an error of the server of breaches is read as an answer",
    edits: lookUp("if (statusCode !== 200)", "if (statusCode === 404)"),
    noticedBy: alone("when the server answers with an error"),
  },
  {
    name: "somebody waits for the server of breaches",
    edits: lookUp("signal: AbortSignal.timeout(WITHIN_MS)", "signal: AbortSignal.timeout(5 * WITHIN_MS)"),
    noticedBy: alone("after two seconds when it"),
  },
  {
    name: "an answer of the server of breaches is read to its end",
    edits: lookUp("maxResponseSize: MAX_ANSWER_BYTES", "maxResponseSize: 64 * MAX_ANSWER_BYTES"),
    noticedBy: alone("when the answer is larger than a mebibyte"),
  },
  {
    name: "look-ups among breached passwords have no bound",
    edits: lookUp("if (running >= AT_ONCE)", "if (running >= 1_000 * AT_ONCE)"),
    noticedBy: alone("when eight look-ups are running"),
  },
];
