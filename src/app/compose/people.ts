// The part of the composition for people: authentication of callers, sign-in, and mail.

import process from "node:process";
import type { PoolClient } from "pg";
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
import { openAccount } from "../../ledger/accounts.ts";
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
  /** Where people reach the service; right once it listens. */
  readonly baseUrl: () => string;
};

export type AppPeople = {
  readonly people: People;
  readonly signIn: SignIn;
  readonly mailer: Mailer;
  /** Sends people mails about their balance. */
  readonly lowBalanceTick: Tick;
  /** Sends people mails about their automatic top-ups. */
  readonly autoTopUpMailTick: Tick;
  /** Decides alerts, and sends their mails. */
  readonly alertTick: Tick;
  readonly verifyServiceToken: ReturnType<typeof createServiceTokenVerifier>;
  readonly accounts: ReturnType<typeof createAccountsService>;
  readonly members: ReturnType<typeof membersService>;
  /** The security log. Close it before the database. */
  readonly securityLog: SecurityLog;
  /** Close it when sign-up has stopped. */
  readonly breachedPasswords: Pick<BreachedPasswords, "close">;
};

/** Builds it. */
export function createAppPeople({ config, database, logger, baseUrl }: PeopleOptions): AppPeople {
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
    openAccount: openWithWelcome,
    // An account that an operator had opened before its person came.
    onAccountOpened: async (accountId) => void (await postWelcomeCredit(database, accountId)),
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
  const readersOf: ReadersOf = (accountId, audience) => mailReadersOf(pool, accountId, audience);
  return {
    securityLog,
    breachedPasswords,
    mailer,
    lowBalanceTick: lowBalanceTick({
      pool,
      mailer,
      readersOf,
      topUpUrl: () => `${baseUrl()}/billing`,
    }),
    autoTopUpMailTick: autoTopUpMailTick({
      pool,
      mailer,
      readersOf,
      url: () => `${baseUrl()}/billing`,
    }),
    alertTick: alertTick({
      pool,
      mailer,
      readersOf,
      emailOf: (personId) => emailOfPerson(pool, personId),
      places: () => ({
        alerts: `${baseUrl()}/alerts`,
        keys: `${baseUrl()}/keys`,
        members: `${baseUrl()}/members`,
        usage: `${baseUrl()}/usage`,
        billing: `${baseUrl()}/billing`,
      }),
    }),
    people,
    signIn: recordSignIns(signIn, { recordSecurityEvent, verifySession: (cookies) => people.verifySession(cookies) }),
    verifyServiceToken: createServiceTokenVerifier(database),
    members: membersService({ database, mailer, baseUrl }),
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

/** Opens an account with its welcome credit: in one transaction, so that nothing dies between the two. */
async function openWithWelcome(client: PoolClient, accountId: string): Promise<void> {
  await openAccount(client, accountId);
  await giveWelcomeCredit(client, accountId);
}
