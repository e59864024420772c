// A proxy in front of Saldo that counts what an agent sends: refusals reach no model, but an agent may repeat them.

import { createServer, request } from "node:http";
import { pipeline } from "node:stream";
import { closeServer, listen } from "../support.ts";

/** The proxy, and the status of each answer to a POST so far. */
export type Counter = { readonly url: string; readonly statuses: number[]; close(): Promise<void> };

/** Starts it on a free port. */
export async function startCounter(target: string): Promise<Counter> {
  const statuses: number[] = [];
  const server = createServer((asked, answered) => {
    const { method, url, headers } = asked;
    const passed = request(new URL(url ?? "/", target), { method, headers }, (answer) => {
      if (method === "POST") statuses.push(answer.statusCode ?? 0);
      answered.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, answered, () => passed.destroy());
    });
    // A caller who leaves is one who has left Saldo.
    pipeline(asked, passed, (error) => error !== undefined && error !== null && answered.destroy());
    answered.once("close", () => passed.destroy());
  });
  return { url: await listen(server), statuses, close: () => closeServer(server) };
}
