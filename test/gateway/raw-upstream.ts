// An upstream over a bare socket, for what no HTTP server does: bytes behind the end of an answer, or on an idle connection.

import { type AddressInfo, createServer, type Socket } from "node:net";

/** Answers the request of this number, counted over all connections; `body` is what was asked. */
export type RawScript = (socket: Socket, call: { readonly number: number; readonly body: string }) => void;

/** Starts a server on a free port of the loopback. Each request runs the script set at that moment. */
export async function startRawUpstream() {
  const state: { script: RawScript; calls: number } = { script: () => undefined, calls: 0 };
  const sockets = new Set<Socket>();
  /** How many requests came on each connection, in the order in which they were opened. */
  const requests: number[] = [];
  const server = createServer((socket) => {
    const connection = requests.push(0) - 1;
    let received = "";
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      const head = received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      const body = received.slice(head + 4, head + 4 + length);
      received = received.slice(head + 4 + length);
      requests[connection] = (requests[connection] ?? 0) + 1;
      state.calls += 1;
      state.script(socket, { number: state.calls, body });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    get openSockets(): number {
      return sockets.size;
    },
    run(script: RawScript): void {
      state.script = script;
      state.calls = 0;
      requests.length = 0;
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A whole HTTP response that leaves its connection open. */
export function rawJson(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
