import { describe, expect, test } from "vitest";
import { importsOf } from "./source-imports.ts";
import { findViolations, type SourceFile, tableViolations } from "./violations.ts";

const readme = (room: string): SourceFile => ({ path: `src/${room}/README.md`, text: "" });
const programs = ["app", "transport", "transport/calls", "transport/web", "docs"].map(readme);
const topics = ["operator", "identity", "keys", "billing", "merchant", "gateway"].map(readme);
const rooms = [...programs, ...topics, ...["ledger", "kernel", "database"].map(readme)];

/** What is found in a house of these files, each room with its README. */
function found(...files: [path: string, text: string][]): string[] {
  return findViolations([...rooms, ...files.map(([path, text]) => ({ path, text }))]);
}

describe("the plan of the house", () => {
  test("has no arrow from a lower tier to a higher one", () => {
    expect(tableViolations()).toEqual([]);
    expect(tableViolations({ kernel: ["database", "ledger"], wallet: [] })).toEqual([
      "kernel may not import ledger, which is in a higher tier",
      "wallet stands in no tier",
    ]);
    expect(tableViolations({ gateway: ["transport/calls", "operator/audit-log"] })).toHaveLength(1);
  });

  test("accepts imports along its arrows", () => {
    expect(
      found(
        ["src/kernel/money.ts", `import { x } from "./decimal.ts";`],
        [
          "src/merchant/transfers/quote.ts",
          `import type { P } from "../../identity/principal.ts";\nimport "../../ledger/postings.ts";`,
        ],
        ["src/merchant/service.ts", `import { S } from "#gen/saldo/merchant/v1/transfer_pb.ts";`],
        ["src/gateway/upstreams/demo.ts", `export * from "../../keys/keys.ts";\nimport pg from "pg";`],
        ["src/gateway/proto-model.ts", `import { M } from "#gen/saldo/gateway/v1/model_pb.ts";`],
        ["src/transport/calls/services.ts", `import { S } from "#gen/saldo/keys/v1/keys_service_pb.ts";`],
        [
          "src/app/compose/app.ts",
          `import { readConfig } from "../config/config.ts";\nawait import("../../gateway/chat.ts");`,
        ],
        ["src/app/demo/demo.ts", `import { x } from "../../keys/keys.ts";`],
        ["src/app/process/process.ts", `import { x } from "../compose/app.ts";`],
        ["src/app/config/config.ts", `export const environment = process.env;`],
        ["src/identity/settings.ts", `import { x } from "../operator/audit-log/operator-actions.ts";`],
        ["src/transport/web/docs.ts", `new URL("../../docs/pages/", import.meta.url);`],
        ["src/keys/keys.test.ts", `import { create } from "../../test/setup/test-database.ts";`],
      ),
    ).toEqual([]);
  });

  test("refuses every other arrow, however it is written", () => {
    const wrong: [string, string, string][] = [
      ["src/kernel/money.ts", `import { x } from "../database/database.ts";`, "kernel may not import database"],
      ["src/ledger/audit/run.ts", `export * from "../../billing/cost.ts";`, "ledger may not import billing"],
      ["src/merchant/quote.ts", `import type { K } from "../keys/keys.ts";`, "merchant may not import keys"],
      ["src/merchant/quote.ts", `import { c } from "../identity/customers.ts";`, "merchant may not import identity"],
      ["src/keys/keys.ts", `import {\n  a,\n  type B,\n} from "../billing/cost.ts";`, "keys may not import billing"],
      ["src/gateway/upstreams/demo.ts", `await import("../../merchant/quote.ts")`, "gateway may not import merchant"],
      ["src/billing/cost.ts", `import "../gateway/chat.ts";`, "billing may not import gateway"],
      ["src/identity/people.ts", `import "../operator/rpc/people.ts";`, "identity may not import operator"],
      [
        "src/transport/calls/call.ts",
        `import { d } from "../../database/database.ts";`,
        "transport/calls may not import database",
      ],
      [
        "src/transport/calls/call.ts",
        `import type { R } from "../web/docs.ts";`,
        "transport/calls may not import transport/web",
      ],
      ["src/ledger/ledger.ts", `import { app } from "../app/compose/app.ts";`, "ledger may not import app/compose"],
      ["src/keys/keys.ts", `import { x } from "../app/demo/demo.ts";`, "keys may not import app/demo"],
      ["src/app/demo/demo.ts", `import { x } from "../process/node.ts";`, "app/demo may not import app/process"],
      ["src/keys/keys.test.ts", `import { x } from "../merchant/quote.ts";`, "keys may not import merchant"],
      ["src/keys/keys.ts", `import { x } from "../../test/setup/test-database.ts";`, "which lies outside src"],
      ["src/keys/keys.ts", `import { K } from "#gen/saldo/keys/v1/key_pb.ts";`, "imports the contracts"],
      ["src/keys/keys.ts", `import { K } from "../../gen/saldo/keys/v1/key_pb.ts";`, "imports the contracts"],
      ["src/keys/keys.ts", `new URL("../docs/pages/a.md", import.meta.url)`, "keys may not read docs"],
      ["src/keys/keys.ts", `import.meta.glob<string>("../docs/pages/*.md")`, "keys may not read docs"],
      ["src/keys/keys.ts", `const P = "../merchant/quote.ts";\nawait import(P);`, "loads or reads by import()"],
      ["src/keys/keys.ts", `await import("../merchant/" + name);`, "loads or reads by import()"],
      ["src/keys/keys.ts", `import { createRequire } from "node:module";\ncreateRequire("/");`, "by createRequire()"],
      ["src/keys/keys.ts", `import * as m from "node:module";\nm.createRequire("/");`, "by createRequire()"],
      ["src/keys/keys.ts", `join(import.meta.dirname, "../docs")`, "by import.meta.dirname"],
      ["src/keys/keys.ts", `import.meta.resolve("../docs/a.md")`, "by import.meta.resolve"],
      ["src/keys/keys.ts", `new URL(name, import.meta.url)`, "by import.meta.url"],
      ["src/keys/keys.ts", `const { url } = import.meta;`, "by import.meta as a value"],
    ];
    for (const [path, text, sentence] of wrong) {
      expect(found([path, text])).toEqual([expect.stringContaining(sentence)]);
    }
  });

  test("takes no import from a comment, and an address in a text for no comment", () => {
    expect(importsOf(`// import "a";\n/* import "b"; */\nconst u = "http://c";\nimport "d";`)).toEqual([
      { specifier: "d", typeOnly: false },
    ]);
  });

  test("refuses the environment anywhere but in the configuration", () => {
    for (const text of [
      `const x = process.env["X"];`,
      `const x = process["env"];`,
      `const x = globalThis.process?.env;`,
      `const { pid, env: variables } = process;`,
      `import { env } from "node:process";`,
    ]) {
      expect(found(["src/keys/keys.ts", text])).toHaveLength(1);
    }
    expect(found(["src/keys/keys.ts", `const { pid } = process;\nconst env = process.pid;`])).toEqual([]);
    expect(found(["src/keys/keys.ts", `// process.env is read elsewhere`])).toEqual([]);
  });

  test("refuses the text of protocols in rooms, but for their adapters and what reads streams", () => {
    const texts = [
      "const DONE = Buffer.from(`data: [DONE]\\n\\n`);",
      "sink.write(`data: ${json}\\n\\n`);",
      `sink.write(": keep-alive\\n\\n");`,
      `const type = "text/event-stream";`,
      `const error = { type: "server_error" };`,
      `if (code === 429) throw error;`,
      `if (answer.status === 400) throw error;`,
      `response.writeHead(head);`,
      `headers.push(["set-cookie", line]);`,
      "const page = `<!doctype html>`;",
    ];
    for (const text of texts) {
      const refused = found(["src/gateway/answer/answer-chat.ts", text]);
      expect(refused).toContainEqual(expect.stringContaining("which only transport/ and adapters of upstreams write"));
      expect(found(["src/gateway/upstreams/upstreams.ts", text])).toHaveLength(refused.length);
      expect(found(["src/billing/cost.ts", text])).toHaveLength(refused.length);
      expect(found(["src/gateway/upstreams/anthropic/upstream.ts", text])).toEqual([]);
      expect(found(["src/gateway/stream/sse.ts", text])).toEqual([]);
      expect(found(["src/transport/calls/chat-events.ts", text])).toEqual([]);
    }
    expect(found(["src/gateway/answer/progress.ts", "// status 503\nconst LOOK_MS = 500;"])).toEqual([]);
  });

  test("refuses a transport that reads events back", () => {
    const reads = `import { dataOf } from "../../gateway/stream/sse.ts";`;
    const sentence = expect.stringContaining("reads events back");
    expect(found(["src/transport/calls/chat-sink.ts", reads])).toContainEqual(sentence);
    expect(found(["src/gateway/rpc-sink.ts", `import { dataOf } from "./stream/sse.ts";`])).toEqual([sentence]);
    expect(found(["src/gateway/metering/estimate.ts", `import { dataOf } from "../stream/sse.ts";`])).toEqual([]);
  });

  test("refuses a file that is too long, badly named or unfinished", () => {
    expect(found(["src/keys/keys.ts", "x;\n".repeat(500)])).toEqual([]);
    expect(found(["src/keys/keys.ts", "x;\n".repeat(501)])).toHaveLength(1);
    for (const name of ["utils.ts", "helpers.ts", "manager.ts", "types.ts", "utils.test.ts", "apiKey.ts", "Key.ts"]) {
      expect(found([`src/keys/${name}`, ""])).toHaveLength(1);
    }
    expect(found(["src/keys/keys.ts", "// FIXME later"])).toHaveLength(1);
  });

  test("refuses a room that is not drawn or has no README", () => {
    expect(found(["src/wallet/wallet.ts", ""], ["src/wallet/README.md", ""])).toEqual([
      "src/wallet does not stand in the import table",
    ]);
    expect(found(["src/workers/tick.ts", ""])).toEqual(["src/workers has no README.md"]);
    expect(found(["src/transport/grpc/health.ts", ""])).toEqual(["src/transport/grpc has no README.md"]);
  });

  test("refuses a file that lies directly in src, or beside the rooms of a folder", () => {
    expect(found(["src/main.js", ""])).toEqual([]);
    expect(found(["src/server.ts", ""])).toEqual(["src/server.ts lies directly in src, where only main.js may"]);
    expect(found(["src/README.md", ""])).toHaveLength(1);
    expect(found(["src/transport/call.ts", ""])).toEqual([
      "src/transport/call.ts lies beside the rooms of src/transport and in none",
    ]);
  });

  test("refuses files that need each other to load, and those whose types do", () => {
    expect(
      found(
        ["src/keys/a.ts", `import { b } from "./b.ts";`],
        ["src/keys/b.ts", `import { c } from "./c.ts";`],
        ["src/keys/c.ts", `import { a } from "./a.ts";`],
      ),
    ).toEqual(["import cycle: src/keys/a.ts → src/keys/b.ts → src/keys/c.ts → src/keys/a.ts"]);
    const byType: [string, string][] = [
      ["src/keys/a.ts", `import { b } from "./b.ts";`],
      ["src/keys/b.ts", `import type { A } from "./a.ts";`],
    ];
    expect(found(...byType)).toEqual(["circle of types: src/keys/a.ts, src/keys/b.ts"]);
  });

  test("refuses rooms that need each other, if only by a type", () => {
    expect(
      found(
        ["src/operator/rpc/a.ts", `import { b } from "../../identity/b.ts";`],
        ["src/identity/b.ts", `import type { A } from "../operator/rpc/a.ts";`],
      ),
    ).toContain("rooms that need each other: identity, operator");
  });
});
