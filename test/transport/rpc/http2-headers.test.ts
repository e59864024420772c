// Headers that HTTP/2 forbids, written frame by frame: Node's own client would not send them.

import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BEARER, type Running, startServers } from "../fakes.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY] = [0, 1, 3, 4, 7];
const [END_STREAM, END_HEADERS] = [1, 4];
const FRAME_HEAD_BYTES = 9;
const NOTHING = Buffer.from([0, 0, 0, 0, 0]);

let running: Running;
beforeAll(async () => {
  running = await startServers();
});
afterAll(() => running.servers.close(1_000));

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.set([type, flags], 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header as HPACK writes it without a table: length and text, twice. */
function header([name, value]: readonly [string, string]): Buffer {
  const [first, second] = [Buffer.from(name, "latin1"), Buffer.from(value, "latin1")];
  return Buffer.concat([Buffer.from([0, first.length]), first, Buffer.from([second.length]), second]);
}

type Headers = readonly (readonly [string, string])[];
const HEALTH = "/grpc.health.v1.Health/Check";
const MODELS = "/saldo.gateway.v1.GatewayService/ListModels";
const CALL: Headers = [
  [":method", "POST"],
  [":scheme", "http"],
  [":authority", "localhost"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
];

/** Sends a call with more headers and a body, and gives how it ended: with a message, or without one. */
async function call(more: Headers, { path = HEALTH, body = NOTHING } = {}): Promise<"answered" | "refused"> {
  const { hostname, port } = new URL(`http://${running.grpc.replace(/^\w+:\/\//, "")}`);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const pseudo = CALL.filter(([name]) => name.startsWith(":"));
  const others = CALL.filter(([name]) => !name.startsWith(":"));
  const block = Buffer.concat([[":path", path] as const, ...pseudo, ...others, ...more].map(header));
  socket.write(
    Buffer.concat([
      PREFACE,
      frame(SETTINGS, 0, 0),
      frame(HEADERS, END_HEADERS, 1, block),
      frame(DATA, END_STREAM, 1, body),
    ]),
  );
  let received = Buffer.alloc(0);
  try {
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      received = Buffer.concat([received, bytes]);
      while (received.length >= FRAME_HEAD_BYTES) {
        const length = received.readUIntBE(0, 3);
        if (received.length < FRAME_HEAD_BYTES + length) break;
        const [type = 0, stream] = [received[3], received.readUInt32BE(5)];
        if (type === DATA && stream === 1) return "answered";
        // Trailers without a message before them are an error.
        if (type === HEADERS && stream === 1 && ((received[4] ?? 0) & END_STREAM) !== 0) return "refused";
        if (type === GOAWAY || (type === RST_STREAM && stream === 1)) return "refused";
        received = received.subarray(FRAME_HEAD_BYTES + length);
      }
    }
    return "refused";
  } finally {
    socket.destroy();
  }
}

test("a call as it should be is answered", async () => {
  expect(await call([])).toBe("answered");
  expect(await call([["content-length", String(NOTHING.length)]])).toBe("answered");
});

test.each([
  ["transfer-encoding", "chunked"],
  ["connection", "keep-alive"],
  ["keep-alive", "timeout=5"],
  ["proxy-connection", "keep-alive"],
  ["upgrade", "h2c"],
  ["te", "gzip"],
])("a header of the connection is refused: %s", async (name, value) => {
  expect(await call([[name, value]])).toBe("refused");
});

// Node leaves such a header out and goes on, so it counts that no code acts on it.
test.each([
  ["authorization", `${BEARER}\r\nx-b: 2`],
  ["authorization", `${BEARER}\nx-b: 2`],
  ["authorization", `${BEARER}\r`],
  ["authorization", `${BEARER}\0`],
  ["authorization\r\nx-b", BEARER],
  ["x-a\r\nauthorization", BEARER],
])("a header with a line break counts for nothing: %j, %j", async (name, value) => {
  expect(await call([["authorization", BEARER]], { path: MODELS })).toBe("answered");
  expect(await call([[name, value]], { path: MODELS })).toBe("refused");
});

test.each(["4", "6", "-1", "5, 6"])("a length that is not the body's is refused: %s", async (length) => {
  expect(await call([["content-length", length]])).toBe("refused");
});
