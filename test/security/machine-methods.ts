// The methods that merchant pairs, gateway keys and service tokens may call, read from the contracts, beside what each must ask
// of such a caller. What it must ask is written here by name and not read from the contracts: a method that is new, or that
// takes another kind of caller, turns the walk red until its line is written.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Caller, callers } from "#gen/saldo/options/v1/options_pb.ts";
import type { TokenScope } from "../../src/identity/principal.ts";
import { services } from "../../src/transport/calls/services.ts";

/** What a method must ask of machines. */
export type Expectation = {
  /** The kinds of machine the method takes. */
  readonly takes: readonly ("key" | "pair" | "token")[];
  /** The scope a service token needs. Only where the method takes tokens. */
  readonly scope?: TokenScope;
  /** What the method does to a merchant's money. Needed wherever a pair or a transfers token changes something. */
  readonly money?: "orders a transfer" | "returns money" | "makes an orderer";
  /** A request that gets past validation, where a key's slot is taken behind it. */
  readonly request?: object;
  /** It reads nothing and costs nothing: it asks no database, which knows of windows and of keys that were revoked just now. */
  readonly isFree?: true;
};

const token = (scope: TokenScope, money?: Expectation["money"]): Expectation => ({
  takes: ["token"],
  scope,
  ...(money === undefined ? {} : { money }),
});
const PAIR_OR_READING_TOKEN: Expectation = { takes: ["pair", "token"], scope: "read" };
const pairOrTransfersToken = (money: Expectation["money"] & string): Expectation => ({
  takes: ["pair", "token"],
  scope: "transfers",
  money,
});
const RESPONSE = { model: "demo/small", input: { kind: { case: "stringValue", value: "Hello!" } } };
const CHAT = { model: "demo/small", messages: [{ role: "user", content: { case: "text", value: "Hello!" } }] };

const MESSAGES = {
  model: "demo/small",
  messages: [{ role: "user", content: { kind: { case: "stringValue", value: "Hello!" } } }],
};

const GEMINI = { model: "demo/small", contents: [{ role: "user", parts: [{ text: "Hello!" }] }] };

/** By the name of the method. */
export const EXPECTED: Readonly<Record<string, Expectation>> = {
  "GatewayService/CreateChatCompletion": { takes: ["key"], request: CHAT },
  "GatewayService/StreamChatCompletion": { takes: ["key"], request: CHAT },
  "ResponsesService/CreateResponse": { takes: ["key"], request: RESPONSE },
  "ResponsesService/StreamResponse": { takes: ["key"], request: RESPONSE },
  "ResponsesService/CountInputTokens": { takes: ["key"], request: RESPONSE, isFree: true },
  "MessagesService/CreateMessage": { takes: ["key"], request: { ...MESSAGES, maxTokens: 16 } },
  "MessagesService/StreamMessage": { takes: ["key"], request: { ...MESSAGES, maxTokens: 16 } },
  "MessagesService/CountTokens": { takes: ["key"], request: MESSAGES, isFree: true },
  "GeminiService/GenerateContent": { takes: ["key"], request: GEMINI },
  "GeminiService/StreamGenerateContent": { takes: ["key"], request: GEMINI },
  "GeminiService/CountContentTokens": { takes: ["key"], request: GEMINI, isFree: true },
  "EmbeddingsService/CreateEmbeddings": { takes: ["key"], request: { model: "demo/embed", input: ["Hello!"] } },
  "GatewayService/ListModels": { takes: ["key"], request: {} },
  "GatewayService/GetKey": { takes: ["key"], request: {} },
  "GatewayService/GetModel": { takes: ["key"], request: { id: "demo/small" } },
  "BillingService/GetBalance": { takes: ["key", "token"], scope: "read", request: {} },
  "BillingService/CreateTopUp": token("top_ups"),
  "BillingService/GetTopUp": token("read"),
  "BillingService/WatchTopUp": token("read"),
  "BillingService/ListTopUps": token("read"),
  "BillingService/ListUsage": { takes: ["key", "token"], scope: "read", request: {} },
  "BillingService/GetUsageRecord": token("read"),
  "BillingService/SummarizeUsage": token("read"),
  "BillingService/ExportUsage": token("read"),
  "BillingService/ListLedgerEntries": token("read"),
  "BillingService/ExportLedger": token("read"),
  "BillingService/GetSeal": token("read"),
  "BillingService/ExportStatement": token("read"),
  "BillingService/GetLowBalanceAlert": token("read"),
  "BillingService/SetLowBalanceAlert": token("settings"),
  "ReceiptService/ListReceipts": token("read"),
  "ReceiptService/GetReceipt": token("read"),
  "ReceiptService/GetReceiptFile": token("read"),
  "ReceiptService/GetTaxTerms": token("read"),
  "ReceiptService/GetBuyer": token("read"),
  "ReceiptService/SetBuyer": token("settings"),
  "AutoTopUpService/GetAutoTopUp": token("read"),
  "AlertService/GetAlertSettings": token("read"),
  "AlertService/UpdateAlertSettings": token("settings"),
  "AlertService/UpdateAlertWebhook": token("settings"),
  "AlertService/ListAlertDeliveries": token("read"),
  "AlertService/ResendAlert": token("settings"),
  "StatementService/ListStatements": token("read"),
  "StatementService/GetStatement": token("read"),
  "StatementService/GetStatementFile": token("read"),
  "MerchantService/CreateMerchant": token("transfers", "makes an orderer"),
  "MerchantService/ListMerchants": token("read"),
  "MerchantService/CreateCredential": token("transfers", "makes an orderer"),
  "MerchantService/ListCredentials": token("read"),
  "MerchantService/RevokeCredential": token("merchants"),
  "MerchantService/UseFaucet": token("merchants"),
  "MerchantService/ListLimits": token("read"),
  "MerchantService/ListCurrencies": token("read"),
  "CallbackService/GetCallbackSettings": token("read"),
  "CallbackService/UpdateCallbackSettings": token("merchants"),
  "CallbackService/ListCallbackDeliveries": token("read"),
  "CallbackService/ResendCallback": token("merchants"),
  "MerchantTransferService/CalculateTransfer": PAIR_OR_READING_TOKEN,
  "MerchantTransferService/CreateTransfer": pairOrTransfersToken("orders a transfer"),
  "MerchantTransferService/GetTransfer": PAIR_OR_READING_TOKEN,
  "MerchantTransferService/ListTransfers": PAIR_OR_READING_TOKEN,
  "MerchantTransferService/CancelTransfer": pairOrTransfersToken("returns money"),
  "MerchantTransferService/ListBalances": PAIR_OR_READING_TOKEN,
  "MerchantTransferService/GetTransferStatement": PAIR_OR_READING_TOKEN,
  "KeysService/CreateKey": token("keys"),
  "KeysService/ListKeys": token("read"),
  "KeysService/UpdateKey": token("keys"),
  "KeysService/RevokeKey": token("keys"),
  "KeysService/GetRetrySettings": token("read"),
  "KeysService/SetRetrySettings": token("settings"),
  "KeysService/GetBudgetSettings": token("read"),
  "KeysService/SetBudgetSettings": token("settings"),
};

const MACHINES = { key: Caller.API_KEY, pair: Caller.MERCHANT, token: Caller.SERVICE } as const;
export type Machine = keyof typeof MACHINES;

/** A method with its name and the machines that the contract lets call it. */
export type MachineMethod = { readonly method: DescMethod; readonly name: string; readonly takes: readonly Machine[] };

/** Every method of the contracts that names a kind of machine. */
export const machineMethods: readonly MachineMethod[] = Object.values(services)
  .flatMap((service): DescMethod[] => [...service.methods])
  .map((method) => ({
    method,
    name: `${method.parent.name}/${method.name}`,
    takes: (["key", "pair", "token"] as const).filter((kind) => getOption(method, callers).includes(MACHINES[kind])),
  }))
  .filter(({ takes }) => takes.length > 0);

/** Whether a method changes something. */
export const changes = ({ method }: MachineMethod): boolean =>
  method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

/** The methods that take a kind of machine, by the contracts. */
export const methodsOf = (kind: Machine): MachineMethod[] => machineMethods.filter(({ takes }) => takes.includes(kind));
