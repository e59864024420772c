// Every function that reads foreign text. Each is tried with hostile texts, as they are and inside of what it expects.

import { z } from "zod";
import { isEmailAddress } from "../../../src/identity/customers.ts";
import { knownDevice } from "../../../src/identity/sign-in/known-devices.ts";
import { networkOf } from "../../../src/identity/client-network.ts";
import { isCommonPassword } from "../../../src/identity/passwords/passwords.ts";
import { cookiePlanOf } from "../../../src/identity/session-cookie.ts";
import { editText, readMap } from "../../../src/agents/editing/format.ts";
import { jsonWithComments, strictJson } from "../../../src/agents/editing/json.ts";
import { toml } from "../../../src/agents/editing/toml.ts";
import { commentOf, statementsOf } from "../../../src/agents/editing/toml-statements.ts";
import { yaml } from "../../../src/agents/editing/yaml.ts";
import { withoutKeys } from "../../../src/agents/hidden-keys.ts";
import { printable, rupiah } from "../../../src/agents/printable.ts";
import { csvLine } from "../../../src/billing/usage/csv.ts";
import { readLinePlace } from "../../../src/billing/usage/line-place.ts";
import { pageOf, parse as parseProvider, rupiah as readRupiah } from "../../../src/billing/payments/provider-client.ts";
import { requireTimeZone } from "../../../src/billing/usage/time-zone.ts";
import { readCatalogFile } from "../../../src/catalog/catalog-file.ts";
import { nearestModel } from "../../../src/catalog/nearest-model.ts";
import { parseForeignJson } from "../../../src/kernel/foreign-json.ts";
import { parseJsonBody } from "../../../src/transport/rest/json-text.ts";
import { createSameOriginCheck } from "../../../src/transport/http/same-origin.ts";
import { readQuery } from "../../../src/transport/rest/read-request.ts";
import { scrubSecrets } from "../../../src/gateway/answer/loggable-event.ts";
import { readUsage } from "../../../src/gateway/metering/read-usage.ts";
import { outputTextOf } from "../../../src/gateway/metering/output-text.ts";
import { scanObject } from "../../../src/gateway/request/json-scan.ts";
import { readRequest } from "../../../src/gateway/request/read-request.ts";
import { meaningOf } from "../../../src/gateway/formats/chat/chunk.ts";
import { CHAT_FRAMES } from "../../../src/gateway/formats/chat/chat-frames.ts";
import { Frames } from "../../../src/gateway/stream/frames.ts";
import { stringsIn } from "../../../src/gateway/stream/json-strings.ts";
import { readChunk } from "../../../src/gateway/formats/chat/read-chunk.ts";
import { EventCutter, MarkRemover, splitEvents } from "../../../src/gateway/stream/sse.ts";
import { failureOfStatus, retryAfterOf } from "../../../src/gateway/upstreams/http/failures.ts";
import { scrub } from "../../../src/gateway/upstreams/http/scrub.ts";
import { isBillingDay } from "../../../src/kernel/clock.ts";
import { parseDecimal } from "../../../src/kernel/decimal.ts";
import { parseFeeRule } from "../../../src/kernel/provider-fee-rule.ts";
import { isUuid } from "../../../src/kernel/ids.ts";
import { kindOfHost } from "../../../src/outbound/public-address.ts";
import { isSecretToken } from "../../../src/kernel/secret-token.ts";
import { checkAddress } from "../../../src/merchant/addresses/addresses.ts";
import { readAmountText } from "../../../src/merchant/transfers/amount.ts";
import { checkCallbackUrl } from "../../../src/callbacks/callback-url.ts";
import { encodeGrpcMessage } from "../../../src/transport/grpc/grpc-message.ts";
import { readIdempotencyKey } from "../../../src/transport/calls/idempotency-header.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";

/** `most`: the longest text that can come, where it is less than 1 MiB, and why. */
export type Parser = {
  readonly name: string;
  readonly read: (text: string) => unknown;
  readonly most?: { readonly characters: number; readonly why: string };
};

const HEADERS = { characters: 16_384, why: "Node refuses longer headers" };
const OWN_FILES = { characters: 16_384, why: "a settings file of the person who runs the command" };
/** Its library reads 100 characters in a millisecond. */
const YAML = { characters: 4_096, why: "an operator's own file, or one of the person who runs the command" };

const ONE_PACKET = { characters: 65_536, why: "packets of a socket are not longer, and error bodies are cut there" };

const json = (value: unknown) => JSON.stringify(value);
const bytes = (text: string) => Buffer.from(text);
const chat = (member: string) => bytes(`{"model":"a/b","messages":[{"role":"user","content":"x"}],${member}}`);
const site = createSameOriginCheck(null, "localhost");

const GATEWAY: readonly Parser[] = [
  { name: "the scan of a JSON object", read: (text) => scanObject(bytes(text)) },
  { name: "the scan of a JSON object, as a member", read: (text) => scanObject(bytes(`{"a":${text}`)) },
  { name: "the JSON of an upstream", read: (text) => parseForeignJson(text) },
  { name: "a chat request", read: (text) => readRequest(bytes(text)) },
  { name: "a chat request, as a member", read: (text) => readRequest(chat(`"metadata":{"a":${text}}`)) },
  { name: "a chat request, as a text", read: (text) => readRequest(chat(`"user":${json(text)}`)) },
  { name: "a chat request, as a key", read: (text) => readRequest(chat(`${json(text)}:1`)) },
  { name: "the cutter of events, in packets of 1 KiB", read: readPackets },
  { name: "events in one piece", read: (text) => splitEvents(bytes(text)), most: ONE_PACKET },
  { name: "one event", read: (text) => readChunk(bytes(`data: ${text}\n\n`)), most: ONE_PACKET },
  { name: "a chunk", read: (text) => meaningOf(text), most: ONE_PACKET },
  {
    name: "a chunk with a text",
    read: (text) => readChunk(bytes(`data: {"choices":[{"delta":{"content":${json(text)}}}]}\n\n`)),
  },
  {
    name: "a chunk with an unknown member",
    read: (text) => outputTextOf({ unknown: text, tool_calls: [{ function: { arguments: text } }] }),
  },
  { name: "the strings of a chunk", read: (text) => [...stringsIn(bytes(text))] },
  { name: "the frames of chunks", read: readFrames },
  { name: "a usage object", read: (text) => readUsage({ prompt_tokens: text, completion_tokens: text, cost: text }) },
  { name: "an error body", read: (text) => failureOfStatus(400, text, undefined), most: ONE_PACKET },
  {
    name: "an error's message",
    read: (text) => failureOfStatus(400, json({ error: { message: text, code: text } }), undefined),
  },
  {
    name: "a retry-after header",
    read: (text) => retryAfterOf({ "retry-after": text, "retry-after-ms": text }, 0),
    most: HEADERS,
  },
  { name: "scrub", read: scrub },
  { name: "scrubSecrets", read: scrubSecrets },
  { name: "the nearest model", read: (text) => nearestModel(text, ["acme/model", text.slice(0, 90)]) },
];

const FACADE: readonly Parser[] = [
  { name: "a JSON body", read: (text) => parseJsonBody(bytes(text), { refuseDuplicateKeys: false }) },
  {
    name: "a JSON body without repeated keys",
    read: (text) => parseJsonBody(bytes(text), { refuseDuplicateKeys: true }),
  },
  {
    name: "a JSON body, as a key",
    read: (text) => parseJsonBody(bytes(`{${json(text)}:1,${json(text)}:2}`), { refuseDuplicateKeys: true }),
  },
  {
    name: "a query",
    read: (text) => readQuery(MerchantTransferService.method.listTransfers.input, `page=1&status=${text}&${text}`),
    most: HEADERS,
  },
  {
    name: "the site of a page",
    read: (text) => site({ headers: { origin: text, host: text }, rawHeaders: [] } as never),
    most: HEADERS,
  },
  {
    name: "a cookie",
    read: (text) => knownDevice(`saldo_device=${text}`, { plan: cookiePlanOf("http://x"), secret: "s", email: "e" }),
    most: HEADERS,
  },
  { name: "an idempotency key", read: readIdempotencyKey, most: HEADERS },
  { name: "a message in a gRPC trailer", read: encodeGrpcMessage },
  { name: "the network of an address", read: networkOf, most: HEADERS },
];

const FIELDS: readonly Parser[] = [
  { name: "a decimal", read: (text) => parseDecimal(text, 6) },
  { name: "an amount of coins", read: readAmountText },
  { name: "a fee rule", read: parseFeeRule },
  { name: "an e-mail address", read: isEmailAddress },
  { name: "an e-mail address, as better-auth reads it", read: (text) => z.email().safeParse(text) },
  { name: "a password", read: (text) => isCommonPassword(text, text) },
  { name: "a day", read: isBillingDay },
  { name: "an id", read: isUuid },
  { name: "a page token", read: readLinePlace },
  { name: "a time zone", read: requireTimeZone },
  { name: "a secret", read: (text) => isSecretToken(`gw_${text}`, "gw_") },
  {
    name: "a callback address",
    read: (text) => checkCallbackUrl(`https://${text}`, { environment: "sandbox", allowLoopback: false }),
  },
  { name: "a host", read: kindOfHost },
  ...["ethereum", "tron", "bitcoin", "litecoin", "solana"].map((network): Parser => ({
    name: `an address of ${network}`,
    read: (address) =>
      checkAddress({ address, currencyCode: network === "bitcoin" ? "BTC" : "USDT", network, forbidden: new Set() }),
  })),
  { name: "a notification of a payment provider", read: parseProvider },
  { name: "a payment page's address", read: pageOf },
  { name: "rupiah of a payment provider", read: readRupiah },
  { name: "a field of a CSV file", read: (text) => csvLine([text]) },
  {
    name: "a catalog",
    read: (text) => readCatalogFile(text),
    most: YAML,
  },
];

const AGENTS: readonly Parser[] = [
  ...[strictJson, jsonWithComments, toml, yaml].flatMap((format): Parser[] => [
    { name: `agents' ${format.name}`, read: (text) => readMap(format, text), most: format === yaml ? YAML : OWN_FILES },
    {
      name: `agents' ${format.name}, edited`,
      read: (text) => editText(format, text, [{ path: ["a"], value: "b" }] as never),
      most: format === yaml ? YAML : OWN_FILES,
    },
  ]),
  { name: "statements of TOML", read: (text) => statementsOf(text), most: OWN_FILES },
  { name: "the comment of a statement of TOML", read: (text) => commentOf(`a = ${text}`), most: OWN_FILES },
  { name: "keys in what is printed", read: withoutKeys },
  { name: "what is printed", read: printable, most: OWN_FILES },
  { name: "an amount that is printed", read: rupiah },
];

export const PARSERS: readonly Parser[] = [...GATEWAY, ...FACADE, ...FIELDS, ...AGENTS];

function readPackets(text: string): void {
  const [marks, cutter, whole] = [new MarkRemover(), new EventCutter(), bytes(text)];
  for (let at = 0; at < whole.length; at += 1_024) cutter.push(marks.push(whole.subarray(at, at + 1_024)));
}

function readFrames(text: string): void {
  const frames = new Frames({ id: "i", model: "m" }, CHAT_FRAMES);
  const event = bytes(`data: {"id":"i","model":"m","choices":[{"index":0,"delta":{"content":${json(text)}}}]}\n\n`);
  frames.learn(event, 0, event.subarray(6, -2));
  frames.match(event, 0, 100);
}
