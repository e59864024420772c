// Every method × people who have shown nothing, too little, long ago, or just now. Which methods a stale person may call is written
// here by name, not read from the contracts: a method that is new or changed is closed until it is opened here.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { Caller, callers } from "#gen/saldo/options/v1/options_pb.ts";
import { createPeople } from "../../src/identity/people.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { digestSecretToken } from "../../src/kernel/secret-token.ts";
import { services } from "../../src/transport/calls/services.ts";
import { type Running, startServers } from "../transport/fakes.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const COOKIE = "saldo_session";
const LACKS = new Set(["second_factor_required", "fresh_authentication_required"]);

/** What a person may do on the own account before a required second factor is set up. */
const OWN_SETTINGS = [
  ...["GetMe", "UpdateSettings", "ListSessions", "RevokeSession"].map((name) => `AccountsService/${name}`),
  // Otherwise one whose account asks for a second factor could not go back to the own account.
  "MembersService/ListMyAccounts",
  "MembersService/SwitchAccount",
];
/** Of these, what needs a fresh proof all the same: a stolen session must not end those of its owner. */
const OWN_SETTINGS_FRESH = ["AccountsService/RevokeSession"];
/** What owners may do only with a fresh proof: it moves money, or decides who may. */
const OWNERS_FRESH = [
  "MerchantService/CreateMerchant",
  "MerchantService/CreateCredential",
  "MerchantTransferService/CreateTransfer",
  "CallbackService/UpdateCallbackSettings",
  "AutoTopUpService/UpdateAutoTopUp",
  "AutoTopUpService/SavePaymentMethod",
  "MembersService/InviteMember",
  "MembersService/ChangeRole",
  "MembersService/RemoveMember",
  "MembersService/LeaveAccount",
];
/** What operators may do with a stale proof although it is no read: it takes access away, or makes a file. */
const OPERATORS_STALE = [
  "KeysService/RevokeKey",
  "MerchantService/RevokeCredential",
  "AccountsService/RevokeServiceToken",
  "AccountsService/SignOutPerson",
  "AccountService/FreezeAccount",
  "SystemService/StopAdmission",
  "PayoutService/StopPayouts",
  "ApprovalService/RefuseApproval",
  "BillingService/ExportUsage",
  "BillingService/ExportLedger",
  "BillingService/ExportStatement",
];

const methods: DescMethod[] = Object.values(services).flatMap((service) => [...service.methods]);
const takes = (method: DescMethod, caller: Caller) => getOption(method, callers).includes(caller);
const nameOf = ({ parent, name }: DescMethod): string => `${parent.name}/${name}`;
const isRead = ({ idempotency }: DescMethod) => idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

type State = { isOperator: boolean; hasFactor: boolean; isFactorProved: boolean; proved: string | null; byDemo?: true };
const FACTOR = { hasFactor: true, isFactorProved: true };
const NO_FACTOR = { hasFactor: false, isFactorProved: false };
const STATES = {
  "a stale member": { isOperator: false, ...NO_FACTOR, proved: "-5 minutes" },
  "a fresh member": { isOperator: false, ...NO_FACTOR, proved: "-4 minutes" },
  "a member with a factor not shown": { isOperator: false, hasFactor: true, isFactorProved: false, proved: "0" },
  "a stale member with a factor": { isOperator: false, ...FACTOR, proved: null },
  "an owner of a production merchant without a factor": { isOperator: false, ...NO_FACTOR, proved: "0" },
  "an operator without a factor": { isOperator: true, ...NO_FACTOR, proved: "0" },
  "an operator with a factor not shown": { isOperator: true, hasFactor: true, isFactorProved: false, proved: "0" },
  "a stale operator": { isOperator: true, ...FACTOR, proved: "-5 minutes" },
  "a fresh operator": { isOperator: true, ...FACTOR, proved: "-4 minutes" },
  "an operator by a demo's click": { isOperator: true, ...NO_FACTOR, proved: null, byDemo: true },
} as const satisfies Record<string, State>;
type Name = keyof typeof STATES;
type Walked = [DescMethod, string][];

let opened: TestDatabase;
const running: Partial<Record<"production" | "demo", Running>> = {};
const cookies = new Map<Name, { cookie: string; account: string }>();
beforeAll(async () => {
  opened = await createTestDatabase();
  for (const [name, state] of Object.entries(STATES)) cookies.set(name as Name, await newPerson(name, state));
  const peopleOf = (isDemo: boolean) =>
    createPeople({ database: opened.database, openAccount: async () => {}, cookieName: () => COOKIE, isDemo });
  running.production = await startServers({ people: peopleOf(false), implementations: {} });
  running.demo = await startServers({ people: peopleOf(true), implementations: {} });
});
afterAll(async () => {
  await Promise.all([running.production?.servers.close(1_000), running.demo?.servers.close(1_000)]);
  await opened.drop();
});

async function newPerson(name: string, state: State): Promise<{ cookie: string; account: string }> {
  const { pool } = opened.database;
  const [person, account, token] = [uuidv7(), uuidv7(), uuidv7().replaceAll("-", "")];
  await pool.query("INSERT INTO account (id) VALUES ($1)", [account]);
  await pool.query("INSERT INTO customer (account_id, email) VALUES ($1, $2)", [account, `${person}@test.example`]);
  await pool.query(
    `INSERT INTO auth.person (id, email, email_verified, name, is_operator, account_id, two_factor_enabled)
     VALUES ($1, $2, true, 'Somebody', $3, $4, $5)`,
    [person, `${person}@test.example`, state.isOperator, account, state.hasFactor],
  );
  if (name.includes("merchant")) {
    const merchant = "INSERT INTO merchant (id, account_id, environment) VALUES ($1, $2, 'production')";
    await pool.query(merchant, [uuidv7(), account]);
  }
  await pool.query(
    `INSERT INTO auth.session (id, token_digest, user_id, expires_at, created_at, updated_at, proved_at, factor_proved, by_demo)
     VALUES ($1, $2, $3, now() + interval '1 hour', now(), now(), now() + $4::interval, $5, $6)`,
    [uuidv7(), digestSecretToken(token), person, state.proved, state.isFactorProved, state.byDemo === true],
  );
  return { cookie: `${COOKIE}=${token}.c2lnbmF0dXJl`, account };
}

/** What a person lacks for a method, or that it is reached. The methods are bound to nothing. */
async function outcome(http: string, method: DescMethod, headers: Record<string, string>): Promise<string> {
  const transport: Transport = createConnectTransport({ baseUrl: http, httpVersion: "1.1" });
  const client = createClient(method.parent, transport) as Record<string, (...args: unknown[]) => unknown>;
  try {
    const answer = client[method.localName]?.({}, { headers: { origin: http, ...headers }, timeoutMs: 30_000 });
    if (method.methodKind === "server_streaming") await Array.fromAsync(answer as AsyncIterable<unknown>);
    else await answer;
    return "reached";
  } catch (thrown) {
    const code = ConnectError.from(thrown).findDetails(ErrorFactsSchema)[0]?.code ?? "";
    if (LACKS.has(code)) return code;
    return ["permission_denied", "invalid_api_key", "internal_error", "rate_limit"].includes(code) ? code : "reached";
  }
}

/** The answer of each method that takes the kind of caller. */
async function walk(name: Name, caller: Caller, on: "production" | "demo" = "production"): Promise<Walked> {
  const { cookie = "", account = "" } = cookies.get(name) ?? {};
  const http = running[on]?.http ?? "";
  const taken = methods.filter((method) => takes(method, caller) && !takes(method, Caller.PUBLIC));
  expect(taken.length).toBeGreaterThan(20);
  const headers: Record<string, string> =
    caller === Caller.OPERATOR ? { cookie, "x-saldo-account": account } : { cookie };
  return Promise.all(
    taken.map(async (method): Promise<[DescMethod, string]> => [method, await outcome(http, method, headers)]),
  );
}

/** What was answered, beside what should have been. */
const compare = (walked: Walked, wanted: (method: DescMethod) => string): [string, string, string][] =>
  walked.flatMap(([method, got]) => (got === wanted(method) ? [] : [[nameOf(method), got, wanted(method)]]));

const FRESH = "fresh_authentication_required";
const orReached = (isClosed: boolean, code: string): string => (isClosed ? code : "reached");

test.each<[Name, Caller]>([
  ["an operator without a factor", Caller.OPERATOR],
  ["an operator without a factor", Caller.SESSION],
  ["an owner of a production merchant without a factor", Caller.SESSION],
  ["an operator by a demo's click", Caller.OPERATOR],
])("%s (as %s) reaches the own settings alone", async (name, caller) => {
  const walked = await walk(name, caller);
  expect(
    compare(walked, (method) => orReached(!OWN_SETTINGS.includes(nameOf(method)), "second_factor_required")),
  ).toEqual([]);
});

test.each<[Name, Caller]>([
  ["an operator with a factor not shown", Caller.OPERATOR],
  ["a member with a factor not shown", Caller.SESSION],
])("%s (as %s) confirms before anything but the own settings", async (name, caller) => {
  expect(
    compare(await walk(name, caller), (method) =>
      orReached(!OWN_SETTINGS.includes(nameOf(method)) || OWN_SETTINGS_FRESH.includes(nameOf(method)), FRESH),
    ),
  ).toEqual([]);
});

test("a stale operator reads, and does what takes access away, and nothing else", async () => {
  const walked = await walk("a stale operator", Caller.OPERATOR);
  expect(
    compare(walked, (method) => orReached(!isRead(method) && !OPERATORS_STALE.includes(nameOf(method)), FRESH)),
  ).toEqual([]);
  expect(walked.filter(([, got]) => got === FRESH).length).toBeGreaterThan(20);
});

test.each<Name>(["a stale member", "a stale member with a factor"])(
  "%s may do everything on the own account but move money out, say who may and end sessions",
  async (name) => {
    expect(
      compare(await walk(name, Caller.SESSION), (method) =>
        orReached([...OWNERS_FRESH, ...OWN_SETTINGS_FRESH].includes(nameOf(method)), FRESH),
      ),
    ).toEqual([]);
  },
);

test("a person with every fresh proof reaches everything", async () => {
  const walked = [
    ...(await walk("a fresh operator", Caller.OPERATOR)),
    ...(await walk("a fresh member", Caller.SESSION)),
    ...(await walk("an operator by a demo's click", Caller.OPERATOR, "demo")),
  ];
  expect(compare(walked, () => "reached")).toEqual([]);
});
