// A server of breached passwords, as named by SALDO_BREACHED_PASSWORDS_URL: it returns the digests with a given beginning.

import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type RangeServer = Awaited<ReturnType<typeof startRangeServer>>;

/** A password on the server: the requested digits, and the returned line. */
export function lineOf(password: string, count: number): { prefix: string; line: string } {
  const digest = hash("sha1", password, "hex").toUpperCase();
  return { prefix: digest.slice(0, 5), line: `${digest.slice(5)}:${count}` };
}

/** Starts it on a free port. `answer` is its handler, and may be replaced. */
export async function startRangeServer() {
  const asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const range = {
    asked,
    answer: (response: ServerResponse): void => void response.end("0018A45C4D1DEF81644B54AB7F969B88D65:1"),
    /** Answers one password with a count, among lines of others. */
    knows(password: string, count: number): void {
      const { line } = lineOf(password, count);
      const others = ["0018A45C4D1DEF81644B54AB7F969B88D65:3", "FF36DC7D3284A39991ADA90CAF20D1E3C0D:0"];
      range.answer = (response) => void response.end([others[0], line, others[1]].join("\r\n"));
    },
    url: "",
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? "", headers: request.headers });
    range.answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  range.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/range`;
  return range;
}
