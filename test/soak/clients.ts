// Many clients that send one request after another at a moderate pace, whole and streamed, some of which leave. The
// outcome of each request goes to the shadow auditor, and the latencies of good ones are kept by the current fault.

import { setTimeout as sleep } from "node:timers/promises";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { seededRandom } from "../money/random.ts";
import { type Ask, bodyOf, drawAsk, piecesIn } from "./asks.ts";
import type { Gateway } from "./gateways.ts";
import { Latencies } from "./latencies.ts";
import type { Account, Shadow } from "./shadow.ts";

const MODEL = "acme/large";
/** A client without an answer by then leaves. */
const PATIENCE_MS = 15_000;
/** How long a client looks for another gateway when none is listening. */
const REFUSED_PAUSE_MS = 50;

/** The last chunk of an answer that ended at its bound. No upstream of a soak ends one so by itself. */
const CAPPED = '"finish_reason":"length"';

export type ClientsOptions = {
  readonly gateways: { choose(random: () => number): Pick<Gateway, "url"> };
  readonly shadow: Shadow;
  readonly seed: number;
  readonly clients: number;
  readonly perSecond: number;
  /** The account of the next request's key. */
  readonly account: (random: () => number) => Account;
  /** The current fault, for the latencies. */
  readonly phase: () => string;
};

export class Clients {
  readonly outcomes = new Map<string, number>();
  readonly latencies = new Latencies();
  readonly #options: ClientsOptions;
  readonly #running: Promise<void>[];
  #ended = false;
  #asked = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.#running = Array.from({ length: options.clients }, (_, index) =>
      this.#run(seededRandom(options.seed + index)),
    );
  }

  get requests(): number {
    return this.#asked;
  }

  /** Sends no more and waits for running requests. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#running);
  }

  async #run(random: () => number): Promise<void> {
    const { shadow, account, clients, perSecond } = this.#options;
    while (!this.#ended) {
      await sleep((random() * 2_000 * clients) / perSecond);
      this.#asked += 1;
      const ask = drawAsk(`ask-${this.#asked}`, random);
      const payer = account(random);
      shadow.sent(ask, payer);
      const outcome = await this.#ask(ask, payer, random);
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    }
  }

  async #ask(ask: Ask, { key }: Account, random: () => number): Promise<string> {
    const { gateways, shadow, phase } = this.#options;
    const leaving = new AbortController();
    const patience = setTimeout(() => leaving.abort(), PATIENCE_MS);
    const leave = ask.leaves !== null && "afterMs" in ask.leaves ? ask.leaves.afterMs : null;
    const hurry = leave === null ? undefined : setTimeout(() => leaving.abort(), leave);
    let [requestId, status, toldCost]: [string | null, number | null, bigint | null] = [null, null, null];
    const received = { text: "" };
    const [during, sentAt] = [phase(), performance.now()];
    try {
      const answer = await fetch(`${gateways.choose(random).url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: bodyOf(ask, MODEL),
        signal: leaving.signal,
      });
      const headersAfterMs = performance.now() - sentAt;
      [requestId, status] = [answer.headers.get("x-request-id"), answer.status];
      await this.#read(answer, { ask, leaving, received });
      const { text } = received;
      if (answer.status === 500) shadow.violate(`${requestId} was answered with a fault of ours: ${text}`);
      if (answer.status !== 200) return String(answer.status);
      if (ask.stream && !text.trimEnd().endsWith("data: [DONE]")) {
        if (text.includes('"error"')) return "200, then an error event";
        if (leaving.signal.aborted) return "left";
        return shadow.violate(
          `${requestId} ended in order without its end: ${text.slice(-200)}`,
          "200 without its end",
        );
      }
      const costText = answer.headers.get("x-saldo-cost-idr") ?? /"cost_idr":"([0-9.]+)"/.exec(text)?.[1];
      if (costText === undefined)
        return shadow.violate(`${requestId} was answered without a cost`, "200 without a cost");
      toldCost = parseMoney(costText, IDR).units;
      if (ask.behaviour === "answer") this.latencies.add(during, headersAfterMs);
      return "200";
    } catch (error) {
      if (leaving.signal.aborted) return performance.now() - sentAt >= PATIENCE_MS ? "left without patience" : "left";
      const cause = codeOf(error);
      if (cause === "ECONNREFUSED") await sleep(REFUSED_PAUSE_MS);
      return requestId === null ? `no answer (${cause})` : "200, then broken off";
    } finally {
      clearTimeout(patience);
      clearTimeout(hurry);
      shadow.ended(ask, {
        requestId,
        status,
        pieces: piecesIn(received.text),
        toldCost,
        isCapped: received.text.includes(CAPPED),
      });
    }
  }

  /** Collects the received bytes, so that they are known also of a broken answer. */
  async #read(answer: Response, { ask: { leaves }, leaving, received }: Reading): Promise<void> {
    let pieces = 0;
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received.text += piece;
      pieces += 1;
      if (leaves !== null && "afterPieces" in leaves && pieces >= leaves.afterPieces) leaving.abort();
    }
  }
}

type Reading = { readonly ask: Ask; readonly leaving: AbortController; readonly received: { text: string } };

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
}
