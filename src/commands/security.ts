import { signOutPerson } from "../identity/end-sessions.ts";
import { listSecurityEvents, type SecurityEventRow } from "../identity/read-security-log.ts";
import { SECURITY_OUTCOMES } from "../identity/security-log.ts";
import { signingSecrets } from "../identity/signing-secret.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { choiceOption, integerOption, uuidOption } from "./option-values.ts";
import { column, numbers, tableOf } from "./table.ts";
import { anyAccountFrom, anyAccountOption } from "./which-account.ts";

const MAX_LINES = 1_000;
const LINES = 100;

const EVENT_COLUMNS = [
  column<SecurityEventRow>("occurred at", ({ occurredAt }) => occurredAt),
  column<SecurityEventRow>("kind", ({ kind }) => kind),
  column<SecurityEventRow>("outcome", ({ outcome }) => outcome),
  column<SecurityEventRow>("network", ({ network }) => network),
  column<SecurityEventRow>(
    "person",
    ({ personId, emailHash }) => personId ?? (emailHash === null ? null : `e-mail ${emailHash.slice(0, 12)}`),
  ),
  column<SecurityEventRow>("subject", ({ subject }) => subject),
  column<SecurityEventRow>("detail", ({ detail }) => detail),
  numbers<SecurityEventRow>("times", ({ times }) => times),
];

export const securityCommands: readonly Command[] = [
  {
    name: "security log",
    about: "Lists sign-ins, failed tries and refusals, newest first, with the person, the network and the outcome.",
    options: {
      kind: { required: false, value: "K", about: "one kind, such as sign_in or key_authentication" },
      outcome: {
        required: false,
        value: SECURITY_OUTCOMES.join("|"),
        about: "how it ended",
        choices: SECURITY_OUTCOMES,
      },
      email: { required: false, value: "E", about: "the address it was about" },
      person: { required: false, value: "ID", about: "the person it was about" },
      account: { ...anyAccountOption, about: "the account of the person it was about: its id or e-mail address" },
      limit: { required: false, value: "N", about: `at most so many lines, up to ${MAX_LINES}; ${LINES}` },
    },
    async run(values, { config, database }) {
      const { pool } = await database();
      const [kind, outcome] = [values.get("kind"), values.get("outcome")];
      const [email, person] = [values.get("email"), values.get("person")];
      const [accountId, limit] = [await anyAccountFrom(values, database), values.get("limit")];
      const events = await listSecurityEvents(pool, {
        filter: {
          ...(kind === undefined ? {} : { kind }),
          ...(outcome === undefined ? {} : { outcome: choiceOption(outcome, "outcome", SECURITY_OUTCOMES) }),
          ...(email === undefined ? {} : { email }),
          ...(person === undefined ? {} : { personId: uuidOption(person, "person") }),
          ...(accountId === null ? {} : { accountId }),
        },
        beforeId: null,
        limit: limit === undefined ? LINES : integerOption(limit, "limit", { min: 1, max: MAX_LINES }),
        secrets: () => signingSecrets(pool, config.authSecrets),
      });
      const json = events.map(({ occurredAt, ...event }) => ({ ...event, occurredAt: occurredAt.toISOString() }));
      return { json: { events: json }, text: tableOf(events, EVENT_COLUMNS, "There is no such line.") };
    },
  },
  {
    name: "person sign-out",
    about: "Ends every session of a person, who can sign in again.",
    options: { reason: { required: false, value: "R", about: "why" } },
    positionals: ["EMAIL"],
    async run(values, { database }) {
      const [email = ""] = values.positionals;
      const reason = values.get("reason") ?? null;
      const { personId, sessions } = await signOutPerson(await operatorHere(database), { email, reason });
      return { json: { personId, sessions } };
    },
  },
];
