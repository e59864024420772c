import { createSocket, type Socket } from "node:dgram";
import type { LookupAddress } from "node:dns";
import { isIPv4, type LookupFunction } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDnsLookup } from "./dns-lookup.ts";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "both.example.com": ["93.184.215.14", "10.0.0.1"],
  "none.example.com": [],
};
const TYPE_A = 1;
let server: Socket;
let look: LookupFunction;

/** A name server with a few names, which never answers for others. */
beforeAll(async () => {
  server = createSocket("udp4");
  server.on("message", (question, from) => {
    const { name, end } = readName(question);
    const addresses = NAMES[name];
    if (addresses === undefined) return;
    const found = question.readUInt16BE(end) === TYPE_A ? addresses.filter(isIPv4) : [];
    const head = Buffer.from(question.subarray(0, end + 4));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(found.length, 6);
    head.writeUInt32BE(0, 8);
    const answers = found.map((address) =>
      Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split(".").map(Number)]),
    );
    server.send(Buffer.concat([head, ...answers]), from.port, from.address);
  });
  await new Promise<void>((done) => server.bind(0, "127.0.0.1", done));
  look = createDnsLookup([`127.0.0.1:${server.address().port}`]);
});
afterAll(() => new Promise<void>((done) => server.close(done)));

function readName(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

function resolved(name: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    look(name, { all: true }, (error, addresses) => {
      if (error === null) resolve((addresses as LookupAddress[]).map(({ address }) => address));
      else reject(error);
    });
  });
}

test("gives every address of a name, so that each can be checked", async () => {
  expect(await resolved("both.example.com")).toEqual(["93.184.215.14", "10.0.0.1"]);
});

test("fails when a name has none, or its server does not answer in time", async () => {
  await expect(resolved("none.example.com")).rejects.toThrow(/ENODATA/);
  await expect(resolved("silent.example.com")).rejects.toThrow(/ETIMEOUT/);
});

test("asks no server for this machine's own name", async () => {
  expect(await resolved("localhost")).toEqual(["127.0.0.1", "::1"]);
});
