// Every kind of caller there is, and every way to be none: credentials as they go on the wire, and what each is by the words of
// the contracts. Nothing here asks the code under test who may do what.

import { createCustomer } from "../../src/identity/customers.ts";
import { TOKEN_SCOPES } from "../../src/identity/principal.ts";
import { createPeople } from "../../src/identity/people.ts";
import {
  createServiceTokenVerifier,
  issueServiceToken,
  withdrawServiceToken,
} from "../../src/identity/service-tokens.ts";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { digestSecretToken } from "../../src/kernel/secret-token.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import { revokeKey } from "../../src/keys/issued-keys.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { createPairVerifier, revokePair, issuePair } from "../../src/merchant/merchants/credentials.ts";
import { createMerchant } from "../../src/merchant/merchants/merchants.ts";
import { Caller } from "#gen/saldo/options/v1/options_pb.ts";

/** What credentials come to before a method is looked at. */
export type Kind = Caller | "no such account";

export type TestCaller = {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What it is where the method takes operators; elsewhere too unless `otherwise` is something else. */
  readonly kind: Kind;
  /** What an operator is in methods that do not take operators, or that take people too and name no account. */
  readonly asPerson?: Kind;
  /** The environment of a merchant pair. */
  readonly environment?: "sandbox" | "production";
  /** A service token whose one scope is to read. */
  readonly mayOnlyRead?: true;
  /** Cookies count on the port of browsers only. */
  readonly byCookie?: true;
};

const COOKIE = "saldo_session";

/** The verifiers of a real service over a database, and callers made in it. `origin` is where the pages of the service are. */
export async function makeCallers(database: Database) {
  const email = (): string => `${uuidv7()}@test.example`;
  const newAccount = async (): Promise<string> => {
    const address = email();
    const { accountId } = await withTransaction(database, (client) =>
      createCustomer(client, { email: address, openAccount }),
    );
    return accountId;
  };
  const [own, other] = [await newAccount(), await newAccount()];
  const key = await issueKey(database, { accountId: own, name: "works", rateLimit: 0 });
  const revokedKey = await issueKey(database, { accountId: own, name: "revoked", rateLimit: 0 });
  await revokeKey(database, { keyId: revokedKey.keyId });
  const production = await createMerchant(database, { accountId: own, environment: "production" });
  const sandbox = await createMerchant(database, { accountId: own, environment: "sandbox" });
  const revokedPair = await issuePair(database.pool, sandbox.merchantId);
  await revokePair(database, revokedPair.pairId);
  const ofOne = await issueServiceToken(database.pool, { accountId: own, name: "one", scopes: TOKEN_SCOPES });
  const ofAll = await issueServiceToken(database.pool, { accountId: null, name: "all", scopes: TOKEN_SCOPES });
  const readingToken = await issueServiceToken(database.pool, { accountId: own, name: "reads" });
  const revokedToken = await issueServiceToken(database.pool, {
    accountId: null,
    name: "revoked",
    scopes: TOKEN_SCOPES,
  });
  await withdrawServiceToken(database.pool, revokedToken.token.tokenId);
  const member = await newSession(database, { isOperator: false });
  const operator = await newSession(database, { isOperator: true });
  const over = await newSession(database, { isOperator: true, isOver: true });

  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const basic = (pair: { apiKey: string; secretKey: string }) => ({
    authorization: `Basic ${btoa(`${pair.apiKey}:${pair.secretKey}`)}`,
  });
  const cookie = (token: string) => ({ cookie: `${COOKIE}=${token}.c2lnbmF0dXJl` });
  const named = (accountId: string) => ({ "x-saldo-account": accountId });
  const nobody = (name: string, headers: Record<string, string>): TestCaller => ({
    name,
    headers,
    kind: Caller.PUBLIC,
  });
  const byCookie = true as const;
  const callers: TestCaller[] = [
    nobody("nobody", {}),
    nobody("a made-up key", bearer(`gw_${"a".repeat(49)}`)),
    nobody("a revoked key", bearer(revokedKey.secret)),
    nobody("a key without a scheme", { authorization: key.secret }),
    nobody("a key by another scheme", { authorization: `Basic ${btoa(`${key.secret}:`)}` }),
    nobody("a key as a cookie", { cookie: `${COOKIE}=${key.secret}` }),
    nobody("a revoked pair", basic(revokedPair)),
    nobody("half a pair", basic({ apiKey: sandbox.apiKey, secretKey: production.secretKey })),
    nobody("a pair by another scheme", bearer(`${sandbox.apiKey}:${sandbox.secretKey}`)),
    nobody("a revoked service token", { ...bearer(revokedToken.secret), ...named(own) }),
    nobody("a service token by another scheme", { authorization: `Basic ${btoa(`${ofAll.secret}:`)}`, ...named(own) }),
    nobody("a session that is over", cookie(over)),
    nobody("the token of a session in the wrong header", bearer(operator)),
    { name: "a key", headers: bearer(key.secret), kind: Caller.API_KEY },
    { name: "a sandbox pair", headers: basic(sandbox), kind: Caller.MERCHANT, environment: "sandbox" },
    { name: "a production pair", headers: basic(production), kind: Caller.MERCHANT, environment: "production" },
    { name: "a service of one account", headers: bearer(ofOne.secret), kind: Caller.SERVICE },
    { name: "a service that may read", headers: bearer(readingToken.secret), kind: Caller.SERVICE, mayOnlyRead: true },
    { name: "a service of any account", headers: { ...bearer(ofAll.secret), ...named(other) }, kind: Caller.SERVICE },
    {
      name: "a service of one account that names it in capitals",
      headers: { ...bearer(ofOne.secret), ...named(own.toUpperCase()) },
      kind: Caller.SERVICE,
    },
    {
      name: "a service of another account",
      headers: { ...bearer(ofOne.secret), ...named(other) },
      kind: "no such account",
    },
    {
      name: "a service of no account",
      headers: { ...bearer(ofAll.secret), ...named(uuidv7()) },
      kind: "no such account",
    },
    { name: "a member", headers: cookie(member), kind: Caller.SESSION, byCookie },
    { name: "a member elsewhere", headers: { ...cookie(member), ...named(other) }, kind: "no such account", byCookie },
    { name: "an operator", headers: cookie(operator), kind: Caller.OPERATOR, asPerson: Caller.SESSION, byCookie },
    {
      name: "an operator for an account",
      headers: { ...cookie(operator), ...named(other) },
      kind: Caller.OPERATOR,
      asPerson: "no such account",
      byCookie,
    },
  ];
  const people = createPeople({ database, openAccount, cookieName: () => COOKIE, isDemo: false });
  return {
    callers,
    ports: {
      keys: createKeys({ database }),
      verifyMerchant: createPairVerifier(database),
      verifyServiceToken: createServiceTokenVerifier(database),
      people,
    },
    secrets: [key.secret, production.secretKey, sandbox.secretKey, ofOne.secret, ofAll.secret, member, operator],
  };
}

async function newSession(
  { pool }: Pick<Database, "pool">,
  { isOperator, isOver = false }: { isOperator: boolean; isOver?: boolean },
): Promise<string> {
  const personId = uuidv7();
  const token = uuidv7().replaceAll("-", "");
  await pool.query(
    "INSERT INTO auth.person (id, email, email_verified, name, is_operator, two_factor_enabled) VALUES ($1, $2, true, 'Somebody', $3, true)",
    [personId, `${personId}@test.example`, isOperator],
  );
  await pool.query(
    `INSERT INTO auth.session (id, token_digest, user_id, expires_at, created_at, updated_at, proved_at, factor_proved)
     VALUES ($1, $2, $3, now() + $4 * interval '1 hour', now(), now(), 'infinity', true)`,
    [uuidv7(), digestSecretToken(token), personId, isOver ? -1 : 1],
  );
  return token;
}
