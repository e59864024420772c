// The part of the composition for people: authentication of callers, sign-in, and mail.

import process from "node:process";
import type { Pool, PoolClient } from "pg";
import { type BreachedPasswords, openBreachedPasswords } from "../../identity/passwords/breached-passwords.ts";
import { ensureDemoPerson } from "../../identity/demo-person.ts";
import { createMailer, type Mailer } from "../../identity/mailer.ts";
import { createPeople, type People } from "../../identity/people.ts";
import { createAccountsService } from "../../identity/service.ts";
import { createSecurityLog, type SecurityLog } from "../../identity/security-log.ts";
import { emailOfPerson, mailReadersOf } from "../../identity/members/mail-readers.ts";
import { createServiceTokenVerifier } from "../../identity/service-tokens.ts";
import { recordSignIns } from "../../identity/sign-in/recorded-sign-in.ts";
import { cookiePlanOf } from "../../identity/session-cookie.ts";
import { createSignIn, type SignIn } from "../../identity/sign-in/sign-in.ts";
import { signingSecret, signingSecrets } from "../../identity/signing-secret.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import { openAccount, openAccountElsewhere, readCellOfAccount } from "../../ledger/accounts.ts";
import { giveWelcomeCredit, postWelcomeCredit } from "../../billing/welcome-credit.ts";
import { alertTick } from "../../billing/jobs/alerts.ts";
import type { ReadersOf } from "../../billing/mail-readers.ts";
import { autoTopUpMailTick } from "../../billing/jobs/auto-top-ups.ts";
import { lowBalanceTick } from "../../billing/jobs/low-balance.ts";
import type { Tick } from "../../workers/tick.ts";
import { operatorOf, ownAccountOf, personOf, sessionOf } from "../../transport/calls/callers.ts";
import { membersService } from "./members.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

export type PeopleOptions = {
  readonly config: Config;
  readonly database: Database;
  readonly logger: Pick<EventLogger, "info" | "warn">;
  /** In which cell an account that is opened now is; null: in this database. Absent: always here. */
  readonly placeAccount?: () => Promise<string | null>;
  /** The database of an account whose money is not in this one; null: it is. Absent: it always is. */
  readonly otherDatabaseOf?: (accountId: string) => Promise<Pool | null>;
  /** Where people reach the service; right once it listens. */
  readonly baseUrl: () => string;
};

export type AppPeople = {
  readonly people: People;
  readonly signIn: SignIn;
  readonly mailer: Mailer;
  readonly verifyServiceToken: ReturnType<typeof createServiceTokenVerifier>;
  readonly accounts: ReturnType<typeof createAccountsService>;
  readonly members: ReturnType<typeof membersService>;
  /** The security log. Close it before the database. */
  readonly securityLog: SecurityLog;
  /** Close it when sign-up has stopped. */
  readonly breachedPasswords: Pick<BreachedPasswords, "close">;
};

/** Builds it. */
export function createAppPeople(options: PeopleOptions): AppPeople {
  const { config, database, logger, baseUrl, placeAccount, otherDatabaseOf } = options;
  const { pool } = database;
  const show = config.demo ? (text: string): void => void process.stdout.write(`${text}\n`) : null;
  const mailer = createMailer({ smtpUrl: config.smtpUrl, from: config.mailFrom }, show);
  const securityLog = createSecurityLog({
    pool,
    secret: () => signingSecret(pool, config.authSecrets),
    onFault: (err) => logger.warn({ event: "security.log.delayed", err }, "security events were not written yet"),
    onLine: (line) => logger.info(line, "security event"),
  });
  const { recordSecurityEvent } = securityLog;
  const people = createPeople({
    database,
    openAccount: async (client, accountId) => openPlaced(client, { accountId, cell: (await placeAccount?.()) ?? null }),
    // An account that an operator had opened before its person came. Another cell gives the credit as it opens its account.
    onAccountOpened: async (accountId) => {
      if ((await readCellOfAccount(pool, accountId)) === null) await postWelcomeCredit(database, accountId);
    },
    cookieName: () => cookiePlanOf(baseUrl()).sessionName,
    isDemo: config.demo && !config.production,
    factorForAll: config.factorForAll,
  });
  const breachedPasswords = openBreachedPasswords({
    url: config.breachedPasswordsUrl,
    onFailure: (err) =>
      logger.warn({ event: "identity.password.unchecked", err }, "a password was not looked up among breached ones"),
  });
  const signIn = createSignIn({
    breachedPasswords,
    database,
    mailer,
    baseUrl,
    secrets: () => signingSecrets(pool, config.authSecrets),
    factorForAll: config.factorForAll,
    demoPerson: config.demo && !config.production ? () => ensureDemoPerson(pool) : null,
    onMailLost: (err) => logger.warn({ event: "identity.mail.failed", err }, "a mail was not sent"),
  });
  return {
    securityLog,
    breachedPasswords,
    mailer,
    people,
    signIn: recordSignIns(signIn, { recordSecurityEvent, verifySession: (cookies) => people.verifySession(cookies) }),
    verifyServiceToken: createServiceTokenVerifier(database),
    members: membersService({ database, mailer, baseUrl, otherLinesOf: otherDatabaseOf }),
    accounts: createAccountsService({
      database,
      isDemo: config.demo,
      ownAccountOf,
      sessionOf,
      personOf,
      operatorOf,
      recordSecurityEvent,
      secrets: () => signingSecrets(pool, config.authSecrets),
    }),
  };
}

export type MailTicksOptions = {
  /** The accounts whose mails these are. */
  readonly pool: Pool;
  /** The database that has the people. */
  readonly people: Pool;
  readonly mailer: Mailer;
  readonly baseUrl: () => string;
};

/** The mails about accounts: their balance, their alerts, and their automatic top-ups. */
export function mailTicks({ pool, people, mailer, baseUrl }: MailTicksOptions): Tick[] {
  const readersOf: ReadersOf = (accountId, audience) => mailReadersOf(people, accountId, audience);
  const billing = (): string => `${baseUrl()}/billing`;
  return [
    lowBalanceTick({ pool, mailer, readersOf, topUpUrl: billing }),
    alertTick({
      pool,
      mailer,
      readersOf,
      emailOf: (personId) => emailOfPerson(people, personId),
      places: () => ({
        alerts: `${baseUrl()}/alerts`,
        keys: `${baseUrl()}/keys`,
        members: `${baseUrl()}/members`,
        usage: `${baseUrl()}/usage`,
        billing: billing(),
      }),
    }),
    autoTopUpMailTick({ pool, mailer, readersOf, url: billing }),
  ];
}

/**
 * Opens an account with its welcome credit: in one transaction, so that nothing dies between the two. One in another cell gets its row
 * here, and the cell opens it at its first call.
 */
async function openPlaced(
  client: PoolClient,
  { accountId, cell }: { readonly accountId: string; readonly cell: string | null },
): Promise<void> {
  if (cell !== null) return openAccountElsewhere(client, { accountId, cell });
  await openAccount(client, accountId);
  await giveWelcomeCredit(client, accountId);
}
