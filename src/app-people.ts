// The part of the composition that is about people: who calls, how they sign in, and how they get mail.

import process from "node:process";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import { ensureDemoPerson } from "./accounts/demo-person.ts";
import { createMailer, type Mailer } from "./accounts/mailer.ts";
import { createPeople, type People } from "./accounts/people.ts";
import { createAccountsService } from "./accounts/service.ts";
import { createServiceTokenVerifier } from "./accounts/service-tokens.ts";
import { cookiePlanOf } from "./accounts/session-cookie.ts";
import { createSignIn, type SignIn } from "./accounts/sign-in.ts";
import { signingSecret } from "./accounts/signing-secret.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import { openAccount } from "./ledger/accounts.ts";
import { giveWelcomeCredit, postWelcomeCredit } from "./billing/welcome-credit.ts";
import { emailOfAccount } from "./accounts/store.ts";
import { lowBalanceTick } from "./workers/low-balance.ts";
import type { Tick } from "./workers/tick.ts";
import { accountOf, operatorOf, personOf } from "./rpc/callers.ts";

export type PeopleOptions = {
  readonly config: Config;
  readonly database: Database;
  readonly logger: Pick<Logger, "warn">;
  /** Where people reach the service; right once it listens. */
  readonly baseUrl: () => string;
};

export type AppPeople = {
  readonly people: People;
  readonly signIn: SignIn;
  readonly mailer: Mailer;
  /** Sends people mails about their balance. */
  readonly lowBalanceTick: Tick;
  readonly verifyServiceToken: ReturnType<typeof createServiceTokenVerifier>;
  readonly accounts: ReturnType<typeof createAccountsService>;
};

/** Builds it. */
export function createAppPeople({ config, database, logger, baseUrl }: PeopleOptions): AppPeople {
  const { pool } = database;
  const show = config.demo ? (text: string): void => void process.stdout.write(`${text}\n`) : null;
  const mailer = createMailer({ smtpUrl: config.smtpUrl, from: config.mailFrom }, show);
  return {
    mailer,
    lowBalanceTick: lowBalanceTick({
      pool,
      mailer,
      emailOf: (accountId) => emailOfAccount(pool, accountId),
      topUpUrl: () => `${baseUrl()}/billing`,
    }),
    people: createPeople({
      database,
      openAccount: openWithWelcome,
      // An account that an operator had opened before its person came.
      onAccountOpened: async (accountId) => void (await postWelcomeCredit(database, accountId)),
      cookieName: () => cookiePlanOf(baseUrl()).sessionName,
    }),
    signIn: createSignIn({
      database,
      mailer,
      baseUrl,
      secret: () => signingSecret(pool, config.authSecret),
      demoPerson: config.demo && !config.production ? () => ensureDemoPerson(pool) : null,
      onMailLost: (err) => logger.warn({ err }, "a mail was not sent"),
    }),
    verifyServiceToken: createServiceTokenVerifier(database),
    accounts: createAccountsService({ database, isDemo: config.demo, accountOf, personOf, operatorOf }),
  };
}

/** Opens an account with its welcome credit: in one transaction, so that nothing dies between the two. */
async function openWithWelcome(client: PoolClient, accountId: string): Promise<void> {
  await openAccount(client, accountId);
  await giveWelcomeCredit(client, accountId);
}
