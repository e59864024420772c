// Every method that takes people × every role in an account. What a role may do is written here by name and not read from the
// contracts: a method that is new, or whose roles change, turns the walk red until its line is written.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { Caller, callers, token_scope, TokenScope } from "#gen/saldo/options/v1/options_pb.ts";
import { createPeople } from "../../src/identity/people.ts";
import { ACCOUNT_ROLES, type AccountRole } from "../../src/identity/principal.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { rolesOf } from "../../src/transport/calls/authorise.ts";
import { services } from "../../src/transport/calls/services.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { joinAccount, signInPerson } from "../setup/session-rows.ts";
import { type Running, startServers } from "../transport/fakes.ts";

const EVERY = ["owner", "admin", "developer", "billing", "viewer"] as const;
const CHANGES = ["owner", "admin"] as const;
const READS = ["owner", "admin", "viewer"] as const;
const MONEY = ["owner", "admin", "billing"] as const;
const STATEMENTS = ["owner", "admin", "billing", "viewer"] as const;
const ASKS_MODELS = ["owner", "admin", "developer"] as const;
const USAGE = ["owner", "admin", "developer", "viewer"] as const;

/** Methods about the person, open to everyone who is signed in, also to one who is no member any more. */
const ABOUT_THE_PERSON = [
  "AccountsService/GetMe",
  "AccountsService/UpdateSettings",
  "AccountsService/ListSessions",
  "AccountsService/RevokeSession",
  "MembersService/ListMyAccounts",
  "MembersService/SwitchAccount",
  "MembersService/ShowInvite",
  "MembersService/AcceptInvite",
];

/** The roles of every other method. */
const ALLOWED: Readonly<Record<string, readonly AccountRole[]>> = {
  "BillingService/GetBalance": EVERY,
  "BillingService/CreateTopUp": MONEY,
  "BillingService/GetTopUp": STATEMENTS,
  "BillingService/WatchTopUp": STATEMENTS,
  "BillingService/ListTopUps": STATEMENTS,
  "BillingService/ListUsage": USAGE,
  "BillingService/GetUsageRecord": USAGE,
  "BillingService/SummarizeUsage": USAGE,
  "BillingService/ExportUsage": USAGE,
  "BillingService/ListLedgerEntries": STATEMENTS,
  "BillingService/ExportLedger": STATEMENTS,
  "BillingService/GetSeal": STATEMENTS,
  "BillingService/ExportStatement": READS,
  "BillingService/GetLowBalanceAlert": STATEMENTS,
  "BillingService/SetLowBalanceAlert": MONEY,
  "ReceiptService/ListReceipts": STATEMENTS,
  "ReceiptService/GetReceipt": STATEMENTS,
  "ReceiptService/GetReceiptFile": STATEMENTS,
  "ReceiptService/GetTaxTerms": STATEMENTS,
  "ReceiptService/GetBuyer": STATEMENTS,
  "ReceiptService/SetBuyer": MONEY,
  "AutoTopUpService/GetAutoTopUp": STATEMENTS,
  "AutoTopUpService/UpdateAutoTopUp": MONEY,
  "AutoTopUpService/SavePaymentMethod": MONEY,
  "AutoTopUpService/RemovePaymentMethod": MONEY,
  "AlertService/GetAlertSettings": STATEMENTS,
  "AlertService/UpdateAlertSettings": CHANGES,
  "AlertService/UpdateAlertWebhook": CHANGES,
  "AlertService/ListAlertDeliveries": STATEMENTS,
  "AlertService/ResendAlert": CHANGES,
  "StatementService/ListStatements": STATEMENTS,
  "StatementService/GetStatement": STATEMENTS,
  "StatementService/GetStatementFile": STATEMENTS,
  "GatewayService/CreateChatCompletion": ASKS_MODELS,
  "GatewayService/StreamChatCompletion": ASKS_MODELS,
  "GatewayService/ListModels": EVERY,
  "GatewayService/GetModel": EVERY,
  "EmbeddingsService/CreateEmbeddings": ASKS_MODELS,
  "GeminiService/GenerateContent": ASKS_MODELS,
  "GeminiService/StreamGenerateContent": ASKS_MODELS,
  "GeminiService/CountContentTokens": ASKS_MODELS,
  "MessagesService/CreateMessage": ASKS_MODELS,
  "MessagesService/StreamMessage": ASKS_MODELS,
  "MessagesService/CountTokens": ASKS_MODELS,
  "ResponsesService/CreateResponse": ASKS_MODELS,
  "ResponsesService/StreamResponse": ASKS_MODELS,
  "ResponsesService/CountInputTokens": ASKS_MODELS,
  "KeysService/CreateKey": ASKS_MODELS,
  "KeysService/ListKeys": USAGE,
  "KeysService/UpdateKey": ASKS_MODELS,
  "KeysService/RevokeKey": ASKS_MODELS,
  "KeysService/GetRetrySettings": USAGE,
  "KeysService/SetRetrySettings": CHANGES,
  "KeysService/GetBudgetSettings": USAGE,
  "KeysService/SetBudgetSettings": CHANGES,
  "MembersService/ListMembers": READS,
  "MembersService/InviteMember": CHANGES,
  "MembersService/RevokeInvite": CHANGES,
  "MembersService/ChangeRole": CHANGES,
  "MembersService/RemoveMember": CHANGES,
  "MembersService/SetMemberBudget": CHANGES,
  "MembersService/LeaveAccount": EVERY,
  "MembersService/RenameAccount": CHANGES,
  "MembersService/ListActivity": READS,
  "MerchantService/CreateMerchant": CHANGES,
  "MerchantService/ListMerchants": READS,
  "MerchantService/CreateCredential": CHANGES,
  "MerchantService/ListCredentials": READS,
  "MerchantService/RevokeCredential": CHANGES,
  "MerchantService/UseFaucet": CHANGES,
  "MerchantService/ListLimits": READS,
  "MerchantService/ListCurrencies": READS,
  "CallbackService/GetCallbackSettings": READS,
  "CallbackService/UpdateCallbackSettings": CHANGES,
  "CallbackService/ListCallbackDeliveries": READS,
  "CallbackService/ResendCallback": CHANGES,
  "MerchantTransferService/CalculateTransfer": READS,
  "MerchantTransferService/CreateTransfer": CHANGES,
  "MerchantTransferService/GetTransfer": READS,
  "MerchantTransferService/ListTransfers": READS,
  "MerchantTransferService/CancelTransfer": CHANGES,
  "MerchantTransferService/ListBalances": READS,
  "MerchantTransferService/GetTransferStatement": READS,
};

const nameOf = ({ parent, name }: DescMethod): string => `${parent.name}/${name}`;
const takesPeople = (method: DescMethod): boolean => getOption(method, callers).includes(Caller.SESSION);
const methods: DescMethod[] = Object.values(services)
  .flatMap((service): DescMethod[] => [...service.methods])
  .filter(takesPeople);

let opened: TestDatabase;
let running: Running;
const cookies = new Map<AccountRole | "holder" | "removed", string>();
beforeAll(async () => {
  opened = await createTestDatabase();
  const { pool } = opened.database;
  const holder = await signInPerson(pool);
  cookies.set("holder", holder.cookie);
  for (const role of ACCOUNT_ROLES) {
    const member = await signInPerson(pool);
    await joinAccount(pool, member, { accountId: holder.ownAccountId, role });
    cookies.set(role, member.cookie);
  }
  const removed = await signInPerson(pool);
  await joinAccount(pool, removed, { accountId: holder.ownAccountId, role: "owner" });
  await pool.query("DELETE FROM account_member WHERE person_id = $1", [removed.personId]);
  cookies.set("removed", removed.cookie);
  const people = createPeople({
    database: opened.database,
    openAccount,
    cookieName: () => "saldo_session",
    isDemo: false,
  });
  running = await startServers({ people, implementations: {} });
});
afterAll(async () => {
  await running.servers.close(1_000);
  await opened.drop();
});

/** Whether the method is reached, or the code of the refusal. The methods are bound to nothing. */
async function outcome(method: DescMethod, cookie: string): Promise<string> {
  const transport = createConnectTransport({ baseUrl: running.http, httpVersion: "1.1" });
  const client = createClient(method.parent, transport) as Record<string, (...args: unknown[]) => unknown>;
  try {
    const headers = { origin: running.http, cookie };
    const answer = client[method.localName]?.({}, { headers, timeoutMs: 30_000 });
    if (method.methodKind === "server_streaming") await Array.fromAsync(answer as AsyncIterable<unknown>);
    else await answer;
    return "reached";
  } catch (thrown) {
    const code = ConnectError.from(thrown).findDetails(ErrorFactsSchema)[0]?.code ?? "";
    return ["permission_denied", "invalid_api_key", "internal_error", "rate_limit"].includes(code) ? code : "reached";
  }
}

const walk = async (who: AccountRole | "holder" | "removed") =>
  Object.fromEntries(
    await Promise.all(
      methods.map(async (method) => [nameOf(method), await outcome(method, cookies.get(who) ?? "")] as const),
    ),
  );

const wanted = (isAllowed: (name: string) => boolean) =>
  Object.fromEntries(
    methods.map((method) => {
      const name = nameOf(method);
      return [name, ABOUT_THE_PERSON.includes(name) || isAllowed(name) ? "reached" : "permission_denied"];
    }),
  );

test("every method that takes people has its line here, and no other", () => {
  expect(methods.map(nameOf).toSorted()).toEqual([...Object.keys(ALLOWED), ...ABOUT_THE_PERSON].toSorted());
});

test.each(ACCOUNT_ROLES)("the role %s reaches its methods and no other", async (role) => {
  expect(await walk(role)).toEqual(wanted((name) => ALLOWED[name]?.includes(role) === true));
});

test("the person whose account it is reaches everything", async () => {
  expect(await walk("holder")).toEqual(wanted(() => true));
});

test("one who is no member any more reaches nothing of the account", async () => {
  expect(await walk("removed")).toEqual(wanted(() => false));
});

describe("by the contracts", () => {
  test("a method that takes people names roles, and no other method does", () => {
    const all = Object.values(services).flatMap((service): DescMethod[] => [...service.methods]);
    expect(all.filter((method) => rolesOf(method).size > 0 !== takesPeople(method)).map(nameOf)).toEqual([]);
  });

  test("a viewer changes nothing", () => {
    const isRead = (method: DescMethod): boolean =>
      method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS ||
      getOption(method, token_scope) === TokenScope.READ;
    const viewed = methods.filter((method) => rolesOf(method).has("viewer"));
    expect(viewed.length).toBeGreaterThan(20);
    // Beside the own membership.
    expect(viewed.filter((method) => !isRead(method)).map(nameOf)).toEqual(["MembersService/LeaveAccount"]);
  });

  test("an owner may call whatever a member of another role may", () => {
    expect(methods.filter((method) => !rolesOf(method).has("person") && !rolesOf(method).has("owner"))).toEqual([]);
  });
});
