import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PayoutChain, UnsignablePayment } from "../payout-chain.ts";
import { createEvmChain } from "./evm-chain.ts";

const KEY = "kenari0123456789abcdef";
const PATIENT_MS = 20_000;
const TOKEN = `0x${"11".repeat(20)}`;
const COIN = { currencyCode: "USDT", network: "ethereum", decimals: 6 } as const;

let server: Server;
let answer: (response: ServerResponse, url: string) => void;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", () => answer(response, request.url ?? ""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function chain(timeoutMs: number): PayoutChain {
  const { port } = server.address() as AddressInfo;
  return createEvmChain({
    network: "ethereum",
    rpcUrl: `http://127.0.0.1:${port}/v3/${KEY}?apikey=${KEY}`,
    chainId: 1,
    privateKey: `0x${"01".repeat(32)}`,
    tokens: { USDT: TOKEN },
    finality: 2,
    maxFeeGwei: 10,
    timeoutMs,
  });
}

const HASH = `0x${"22".repeat(32)}`;
const HEAD = { latest: 1, final: 0 };
const questions: readonly ((asked: PayoutChain) => Promise<unknown>)[] = [
  (asked) => asked.check(),
  (asked) => asked.head(),
  (asked) => asked.find({ hash: HASH, payment: null }, HEAD),
  (asked) => asked.nextNonce(),
  (asked) => asked.holderOf(0, HEAD),
  (asked) => asked.balance(COIN),
  (asked) => asked.suggestFee(null),
  (asked) => asked.broadcast("0x02"),
];

/** Everything of an error that a logger could print. */
function everything(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error);
  const own = Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error, name)));
  return [String(error), ...own, error.cause === undefined ? "" : everything(error.cause)].join("\n");
}

it.each<[how: string, expected: string, timeoutMs: number, given: typeof answer]>([
  ["hangs up", "HTTP request failed", PATIENT_MS, (response) => void response.destroy()],
  ["refuses", "HTTP request failed", PATIENT_MS, (response, url) => void response.writeHead(401).end(`no key: ${url}`)],
  ["answers nonsense", "NodeError", PATIENT_MS, (response) => void response.writeHead(200).end("nonsense")],
  ["is silent", "took too long", 50, () => undefined],
  [
    "quotes it",
    // The node's own message is kept, because an operator has to act on it.
    "nonce too low",
    PATIENT_MS,
    (response, url) => {
      const error = { code: -32_000, message: `nonce too low at ${url}` };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error });
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    },
  ],
])("no error contains the key of a node's URL, though the node %s", async (_how, expected, timeoutMs, given) => {
  answer = given;
  const asked = chain(timeoutMs);
  const errors = await Promise.all(
    questions.map((ask) =>
      ask(asked).then(
        () => "no error",
        (error: unknown) => everything(error),
      ),
    ),
  );
  expect(errors.filter((text) => !text.includes(expected))).toEqual([]);
  expect(errors.filter((text) => text.includes(KEY) || text.includes("/v3/"))).toEqual([]);
});

it("an error that is not the node's stays unchanged", async () => {
  const payment = { coin: COIN, to: "no address", units: 1n };
  const signed = chain(PATIENT_MS).sign({ nonce: 0, payment, fee: { most: 1n, priority: 1n } });
  await expect(signed).rejects.toThrow(UnsignablePayment);
});
