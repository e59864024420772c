// A collector of traces that takes everything and keeps nothing: what it costs is not the gateway's. It runs as its own process, prints
// its port and ends with its parent.
//   GET /bench/counters   how many bytes of spans it has received

import { createServer } from "node:http";
import { announce } from "./announce.ts";

const counters = { exports: 0, bytes: 0 };

const server = createServer((request, response) => {
  response.setHeader("content-type", "application/json");
  if (request.method === "GET") {
    response.end(JSON.stringify(counters));
    return;
  }
  counters.exports += 1;
  request.on("data", (data: Buffer) => (counters.bytes += data.length));
  request.on("end", () => response.end("{}"));
});
server.listen(0, "127.0.0.1", () => announce(server));
