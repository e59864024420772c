// What upstreams do with requests that are streamed.

import {
  type Act,
  type Behaviour,
  type Billed,
  DRAINED,
  ESTIMATED,
  EXACT,
  failsOnce,
  failures,
  FREE,
  ONLY_INPUT,
  usages,
} from "./behaviours.ts";
import { chunk, completion, ordinaryEvents, USAGE, usageChunk, wire } from "./scripted-upstream.ts";

const HEAD = { "content-type": "text/event-stream" };
const HALO_DUNIA = { text: "Halo dunia" } as const;
/** The text, then its end, then the usage. */
const TEXT = wire(ordinaryEvents().slice(0, 3));
const FINISH = wire([chunk({}, "stop")]);
const TAIL = wire([usageChunk(), "[DONE]"]);
const ERROR = wire(['{"error":{"message":"overloaded","code":503}}']);

/** Some 350 tokens in 2.1 KB: above the bound, and within what is tolerated. */
const LARGE_ARGUMENTS = JSON.stringify({ text: "saldo ".repeat(350) });
/** Some 3 700 tokens in 22 KB. */
const ENDLESS_ARGUMENTS = JSON.stringify({ text: "saldo ".repeat(3_700) });

/** Sends packets, each in a turn of its own. */
const sends =
  (...packets: readonly string[]): Act =>
  async (response) => {
    response.writeHead(200, HEAD);
    for (const packet of packets) {
      response.write(packet);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
/** Sends this and then resets the connection. */
const resetsAfter =
  (text: string): Act =>
  (response) => {
    response.writeHead(200, HEAD);
    response.write(text, () => setImmediate(() => response.socket?.destroy()));
  };
/** Sends this and then nothing more. */
const stallsAfter =
  (text: string): Act =>
  (response) => {
    response.writeHead(200, HEAD);
    response.write(text);
  };
/** Sends this, sees the client leave, and goes on. */
const leftAfter =
  (text: string, goOn: Act): Act =>
  async (response, stage) => {
    if (text !== "") {
      response.writeHead(200, HEAD).write(text);
      await stage.read;
    }
    stage.leave();
    await stage.left;
    if (text === "") response.writeHead(200, HEAD);
    await goOn(response, stage);
  };
const ends =
  (text: string): Act =>
  (response) =>
    void response.end(text);
const resets: Act = (response) => void response.socket?.destroy();

const broken = (name: string, act: Act): Behaviour => ({
  name,
  act,
  sees: { text: "Halo dunia", breaksWith: "upstream_busy" },
  billed: ESTIMATED,
});
const complete = (name: string, act: Act, billed: Billed = EXACT): Behaviour => ({
  name,
  act,
  sees: HALO_DUNIA,
  billed,
});
const leaves = (name: string, act: Act, billed: Billed): Behaviour => ({ name, act, sees: "nothing", billed });
const tool = (delta: object) => chunk({ tool_calls: [{ index: 0, ...delta }] });

export const streamedBehaviours: readonly Behaviour[] = [
  ...usages.map(({ name, usage, billed }) =>
    complete(name, sends(TEXT, FINISH, usage === undefined ? "" : wire([usageChunk(usage)]), wire(["[DONE]"])), billed),
  ),
  ...failures,

  complete("lines that end in CRLF", sends((TEXT + FINISH + TAIL).replaceAll("\n", "\r\n"))),
  complete("single bytes", sends(...(TEXT + FINISH + TAIL).split(""))),
  complete("comments between the events", sends(`: ping\n\n${TEXT}: ping\n\n`, FINISH, ": ping\n\n", TAIL)),
  complete("no [DONE]", sends(TEXT, FINISH, wire([usageChunk()]))),
  complete("no blank line at the end", sends((TEXT + FINISH + TAIL).trimEnd())),
  complete("usage beside the finish", sends(TEXT, wire([chunk({}, "stop", { usage: USAGE }), "[DONE]"]))),
  complete("usage where Groq puts it", sends(TEXT, wire([chunk({}, "stop", { x_groq: { usage: USAGE } }), "[DONE]"]))),
  complete(
    "usage with every chunk",
    sends(
      wire([chunk({ content: "Halo dunia" }, null, { usage: { prompt_tokens: 1, completion_tokens: 1 } })]),
      FINISH,
      TAIL,
    ),
  ),
  complete(
    "usage twice, of which the last counts",
    sends(TEXT, FINISH, wire([usageChunk({ prompt_tokens: 50, completion_tokens: 50 })]), TAIL),
  ),
  complete("usage behind many comments", sends(TEXT, FINISH, ...Array.from({ length: 50 }, () => ": wait\n\n"), TAIL)),
  complete("usage behind [DONE]", sends(TEXT, FINISH, wire(["[DONE]", usageChunk()])), ESTIMATED),
  complete(
    "one JSON text instead of a stream",
    (response) =>
      void response.writeHead(200, { "content-type": "application/json" }).end(
        completion({
          choices: [{ index: 0, message: { role: "assistant", content: "Halo dunia" }, finish_reason: "stop" }],
        }),
      ),
  ),
  {
    ...complete(
      "a failure, then a stream",
      failsOnce((response) => void response.writeHead(503).end("{}"), sends(TEXT, FINISH, TAIL)),
    ),
    calls: 2,
  },
  {
    name: "a call of a tool",
    act: sends(
      wire([
        tool({ id: "c", type: "function", function: { name: "f", arguments: "" } }),
        tool({ function: { arguments: '{"a":1}' } }),
        chunk({}, "tool_calls"),
      ]),
      TAIL,
    ),
    sees: { text: "" },
    billed: EXACT,
  },
  {
    name: "reasoning without usage",
    act: sends(
      wire([
        chunk({ reasoning_content: "Hmm. Let me think." }),
        chunk({ content: "Halo" }),
        chunk({}, "stop"),
        "[DONE]",
      ]),
    ),
    sees: { text: "Halo" },
    billed: { basis: "estimated", cached: 0, output: { from: 5, to: 12 } },
  },
  {
    name: "a large call of a tool in one event, without usage",
    act: sends(
      wire([chunk({ role: "assistant", content: "" })]),
      wire([
        tool({ id: "c", type: "function", function: { name: "f", arguments: LARGE_ARGUMENTS } }),
        chunk({}, "tool_calls"),
        "[DONE]",
      ]),
    ),
    sees: { text: "" },
    // The upstream has clearly not kept to the bound that was sent: what was given is billed.
    billed: { basis: "estimated", cached: 0, output: { from: 300, to: 410 } },
  },
  {
    name: "a call of a tool that is far above the bound, in one event",
    act: sends(
      wire([chunk({ role: "assistant", content: "" })]),
      wire([
        tool({ id: "c", type: "function", function: { name: "f", arguments: ENDLESS_ARGUMENTS } }),
        chunk({}, "tool_calls"),
        "[DONE]",
      ]),
    ),
    sees: { text: "" },
    // Half of a call is none, so nothing of it goes out.
    billed: ONLY_INPUT,
  },

  broken("a reset in the middle", resetsAfter(TEXT)),
  broken("a silent end in the middle", sends(TEXT)),
  broken("silence in the middle", stallsAfter(TEXT)),
  broken("an error event in the middle", sends(TEXT, ERROR)),
  broken("an error as the finish", sends(TEXT, wire([chunk({}, "error")]))),
  broken("an event cut in the middle", resetsAfter(`${TEXT}data: {"choices":[{"index":0,"del`)),
  {
    name: "an error as the finish, and nothing said",
    act: sends(wire([chunk({ role: "assistant", content: "" }), chunk({}, "error")])),
    sees: { status: 503 },
    billed: FREE,
  },

  { name: "an error event at first", act: sends(ERROR), sees: { status: 503 }, calls: 2, billed: FREE },
  { name: "a reset behind the headers", act: resetsAfter(": wait\n\n"), sees: { status: 503 }, billed: FREE },
  { name: "a silent end behind the headers", act: sends(""), sees: { status: 503 }, billed: FREE },
  { name: "silence behind the headers", act: stallsAfter(": wait\n\n"), sees: { status: 503 }, billed: FREE },
  { name: "nothing but [DONE]", act: sends(wire(["[DONE]"])), sees: { status: 503 }, billed: FREE },

  complete("a reset behind the finish", resetsAfter(TEXT + FINISH), ESTIMATED),
  complete("a silent end behind the finish", sends(TEXT, FINISH), ESTIMATED),
  complete("silence behind the finish", stallsAfter(TEXT + FINISH), ESTIMATED),
  complete("an error event behind the finish", sends(TEXT, FINISH, ERROR), ESTIMATED),
  complete("a reset behind the usage", resetsAfter(TEXT + FINISH + wire([usageChunk()]))),

  leaves("a client that leaves before the headers", leftAfter("", ends(TEXT + FINISH + TAIL)), DRAINED),
  leaves("a client that leaves in the middle", leftAfter(TEXT, ends(FINISH + TAIL)), DRAINED),
  leaves("a client that leaves just before the usage", leftAfter(TEXT + FINISH, ends(TAIL)), DRAINED),
  leaves("a client that leaves before an answer without usage", leftAfter("", ends(TEXT + FINISH)), ESTIMATED),
  leaves("a client that leaves before a reset", leftAfter(TEXT, resets), ESTIMATED),
  leaves("a client that leaves before a silent end", leftAfter(TEXT, ends("")), ESTIMATED),
  leaves("a client that leaves before an error event", leftAfter(TEXT, ends(ERROR)), ESTIMATED),
  leaves(
    "a client that leaves before silence",
    leftAfter(TEXT, () => undefined),
    ESTIMATED,
  ),
];
