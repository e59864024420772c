import { signOutPerson } from "../identity/end-sessions.ts";
import { listSecurityEvents, type SecurityEventRow } from "../identity/read-security-log.ts";
import { SECURITY_OUTCOMES } from "../identity/security-log.ts";
import { signingSecrets } from "../identity/signing-secret.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { choiceOption, integerOption, uuidOption } from "./option-values.ts";

const MAX_LINES = 1_000;
const LINES = 100;

export const securityCommands: readonly Command[] = [
  {
    name: "security log",
    about: "Lists sign-ins, failed tries and refusals, newest first, with the person, the network and the outcome.",
    options: {
      kind: { required: false, value: "K", about: "one kind, such as sign_in or key_authentication" },
      outcome: { required: false, value: "succeeded|refused", about: "how it ended" },
      email: { required: false, value: "E", about: "the address it was about" },
      person: { required: false, value: "ID", about: "the person it was about" },
      account: { required: false, value: "ID", about: "the account of the person it was about" },
      limit: { required: false, value: "N", about: `at most so many lines, up to ${MAX_LINES}; ${LINES}` },
    },
    async run(values, { config, database }) {
      const { pool } = await database();
      const [kind, outcome] = [values.get("kind"), values.get("outcome")];
      const [email, person] = [values.get("email"), values.get("person")];
      const [account, limit] = [values.get("account"), values.get("limit")];
      const events = await listSecurityEvents(pool, {
        filter: {
          ...(kind === undefined ? {} : { kind }),
          ...(outcome === undefined ? {} : { outcome: choiceOption(outcome, "outcome", SECURITY_OUTCOMES) }),
          ...(email === undefined ? {} : { email }),
          ...(person === undefined ? {} : { personId: uuidOption(person, "person") }),
          ...(account === undefined ? {} : { accountId: uuidOption(account, "account") }),
        },
        beforeId: null,
        limit: limit === undefined ? LINES : integerOption(limit, "limit", { min: 1, max: MAX_LINES }),
        secrets: () => signingSecrets(pool, config.authSecrets),
      });
      const json = events.map(({ occurredAt, ...event }) => ({ ...event, occurredAt: occurredAt.toISOString() }));
      return { json: { events: json }, text: events.map(lineOf).join("\n") };
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

function lineOf(event: SecurityEventRow): string {
  const { occurredAt, kind, outcome, network, personId, emailHash, subject, detail, times } = event;
  const who = personId ?? (emailHash === null ? "-" : `e-mail ${emailHash.slice(0, 12)}`);
  const often = times === 1 ? "" : `  ${times} times`;
  return `${occurredAt.toISOString()}  ${kind} ${outcome}  ${network || "-"}  ${who}  ${subject || "-"}  ${detail}${often}`;
}
