// What upstreams do with requests that are not streamed.

import {
  type Act,
  type Behaviour,
  clamped,
  DRAINED,
  EXACT,
  failsOnce,
  failures,
  ESTIMATED,
  usages,
} from "./behaviours.ts";
import { chunk, completion, USAGE, wire } from "./scripted-upstream.ts";

const HEAD = { "content-type": "application/json" };
const whole =
  (overrides: Record<string, unknown> = {}): Act =>
  (response) =>
    void response.writeHead(200, HEAD).end(completion(overrides));
/** Answers once the client has left. */
const whenLeft =
  (body: string): Act =>
  async (response, { leave, left }) => {
    leave();
    await left;
    response.writeHead(200, HEAD).end(body);
  };
const message = (content: unknown, finish = "stop", more = {}) => ({
  choices: [{ index: 0, message: { role: "assistant", content, ...more }, finish_reason: finish }],
});
const call = { id: "c", type: "function", function: { name: "get_weather", arguments: '{"city":"Bandung"}' } };
const LONG = "selamat pagi ".repeat(40_000);
const LONG_TOKENS = 160_000;

export const wholeBehaviours: readonly Behaviour[] = [
  ...usages.map(({ name, usage, billed }) => ({ name, act: whole({ usage }), sees: { text: "Halo!" }, billed })),
  ...failures,
  {
    name: "a failure, then an answer",
    act: failsOnce((response) => void response.writeHead(503).end("{}"), whole()),
    sees: { text: "Halo!" },
    calls: 2,
    billed: EXACT,
  },
  {
    name: "a call of a tool",
    act: whole(message(null, "tool_calls", { tool_calls: [call] })),
    sees: { text: "" },
    billed: EXACT,
  },
  {
    name: "an answer of half a megabyte",
    act: whole({
      ...message(LONG),
      usage: { ...USAGE, completion_tokens: LONG_TOKENS, total_tokens: 11 + LONG_TOKENS },
    }),
    sees: { text: LONG },
    // The upstream has not kept to the bound of the request. What was given is billed, and the rest is the operator's loss.
    billed: clamped({ ...EXACT, output: { from: 100_000, to: LONG_TOKENS } }),
  },
  {
    name: "an answer in single bytes",
    act: async (response) => {
      response.writeHead(200, HEAD);
      for (const byte of completion()) {
        response.write(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    },
    sees: { text: "Halo!" },
    billed: EXACT,
  },
  {
    name: "silence in the middle of the answer",
    act: (response) => void response.writeHead(200, HEAD).write(completion().slice(0, 60)),
    sees: { status: 503 },
    billed: { basis: "free", output: 0 },
  },
  {
    name: "an error as the finish, and nothing said",
    act: whole(message("", "error")),
    sees: { status: 503 },
    billed: { basis: "free", output: 0 },
  },
  {
    name: "events instead of an answer",
    act: (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(wire([chunk({ content: "Halo" }), chunk({}, "stop"), "[DONE]"]));
    },
    sees: { status: 503 },
    billed: { basis: "free", output: 0 },
  },
  { name: "a client that leaves before the answer", act: whenLeft(completion()), sees: "nothing", billed: DRAINED },
  {
    name: "a client that leaves before an answer without usage",
    act: whenLeft(completion({ usage: null })),
    sees: "nothing",
    billed: ESTIMATED,
  },
];
