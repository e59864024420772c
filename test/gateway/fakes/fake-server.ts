// The HTTP server of an upstream of our own: it keeps each request, and its connections end when it is stopped.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

type Json = Readonly<Record<string, unknown>>;

/** A request with its body read. */
export type FakeRequest = {
  readonly body: Json;
  readonly headers: IncomingMessage["headers"];
  readonly path: string;
};

/**
 * What decides on an answer in place of the words of the prompt. A stream waits for `pause` before its last events; `onUsage` is called
 * when the usage has been sent.
 */
export type Script<Answer, Usage> = (
  request: FakeRequest,
  number: number,
) => Answer & { readonly pause?: () => Promise<void>; readonly onUsage?: (usage: Usage) => void };

/** A stream as it is written: its pieces, how many of them wait for `pause`, and whether it breaks off behind them. */
type Written = {
  readonly pieces: readonly string[];
  readonly last: number;
  readonly isCut: boolean;
  readonly pause: (() => Promise<void>) | undefined;
};

/** Writes a stream. Without a pause all of it is written at once. */
export async function writeStream(
  response: ServerResponse,
  { pieces, last, isCut, pause }: Written,
): Promise<"ended" | "broken"> {
  for (const piece of pieces.slice(0, -last)) response.write(piece);
  if (pause !== undefined) await pause();
  for (const piece of pieces.slice(-last)) response.write(piece);
  if (isCut) response.write("", () => response.destroy());
  else response.end();
  return isCut || response.destroyed ? "broken" : "ended";
}

/** Starts a server on a free port. `path`: where the API begins. `reply` answers one request; `number`: how many there were with it. */
export async function startFakeServer(
  path: string,
  reply: (response: ServerResponse, request: FakeRequest, number: number) => void,
) {
  const requests: FakeRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString("utf8")) as Json;
      const received = { body, headers: request.headers, path: request.url ?? "" };
      requests.push(received);
      reply(response, received, requests.length);
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    requests,
    get lastBody(): Json {
      return requests.at(-1)?.body ?? {};
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
