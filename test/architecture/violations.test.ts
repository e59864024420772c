import { describe, expect, test } from "vitest";
import { findViolations, importsOf, type SourceFile } from "./violations.ts";

const readme = (room: string): SourceFile => ({ path: `src/${room}/README.md`, text: "" });
const rooms = ["kernel", "database", "ledger", "accounts", "keys", "billing", "merchant", "gateway", "rpc"].map(readme);

/** What is found in a house of these files, each room with its README. */
function found(...files: [path: string, text: string][]): string[] {
  return findViolations([...rooms, ...files.map(([path, text]) => ({ path, text }))]);
}

describe("the plan of the house", () => {
  test("lets imports pass that go along its arrows", () => {
    expect(
      found(
        ["src/kernel/money.ts", `import { x } from "./decimal.ts";`],
        [
          "src/merchant/quote.ts",
          `import type { P } from "../accounts/principal.ts";\nimport "../ledger/postings.ts";`,
        ],
        ["src/merchant/service.ts", `import { S } from "#gen/saldo/merchant/v1/transfer_pb.ts";`],
        ["src/gateway/upstreams/demo.ts", `export * from "../../keys/keys.ts";\nimport pg from "pg";`],
        ["src/gateway/proto-model.ts", `import { M } from "#gen/saldo/gateway/v1/model_pb.ts";`],
        ["src/rpc/services.ts", `import { S } from "#gen/saldo/keys/v1/keys_service_pb.ts";`],
        ["src/app-process.ts", `import { readConfig } from "./config.ts";\nawait import("./gateway/chat.ts");`],
        ["src/app-demo.ts", `import { x } from "./keys/keys.ts";`],
        ["src/app.ts", `import { x } from "./app-demo.ts";`],
        ["src/config.ts", `export const environment = process.env;`],
        ["src/keys/keys.test.ts", `import { create } from "../../test/setup/test-database.ts";`],
      ),
    ).toEqual([]);
  });

  test("refuses every other arrow, however it is written", () => {
    const wrong: [string, string, string][] = [
      ["src/kernel/money.ts", `import { x } from "../database/database.ts";`, "kernel may not import database"],
      ["src/ledger/lane.ts", `export * from "../billing/cost.ts";`, "ledger may not import billing"],
      ["src/merchant/quote.ts", `import type { K } from "../keys/keys.ts";`, "merchant may not import keys"],
      ["src/merchant/quote.ts", `import { c } from "../accounts/customers.ts";`, "merchant may not import accounts"],
      ["src/keys/keys.ts", `import {\n  a,\n  type B,\n} from "../ledger/ledger.ts";`, "keys may not import ledger"],
      ["src/gateway/upstreams/demo.ts", `await import("../../merchant/quote.ts")`, "gateway may not import merchant"],
      ["src/billing/cost.ts", `import "../gateway/chat.ts";`, "billing may not import gateway"],
      ["src/rpc/call.ts", `import { d } from "../database/database.ts";`, "rpc may not import database"],
      ["src/ledger/ledger.ts", `import { app } from "../app.ts";`, "ledger may not import app.ts"],
      ["src/keys/keys.ts", `import { x } from "../app-demo.ts";`, "keys may not import app.ts"],
      ["src/keys/keys.test.ts", `import { x } from "../merchant/quote.ts";`, "keys may not import merchant"],
      ["src/keys/keys.ts", `import { x } from "../../test/setup/test-database.ts";`, "which lies outside src"],
      ["src/keys/keys.ts", `import { K } from "#gen/saldo/keys/v1/key_pb.ts";`, "imports the contracts"],
      ["src/keys/keys.ts", `import { K } from "../../gen/saldo/keys/v1/key_pb.ts";`, "imports the contracts"],
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
    expect(found(["src/keys/keys.ts", `const x = process.env["X"];`])).toHaveLength(1);
    expect(found(["src/keys/keys.ts", `// process.env is read elsewhere`])).toEqual([]);
  });

  test("refuses a file that is too long, badly named or unfinished", () => {
    expect(found(["src/keys/keys.ts", "x;\n".repeat(300)])).toEqual([]);
    expect(found(["src/keys/keys.ts", "x;\n".repeat(301)])).toHaveLength(1);
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
    expect(found(["src/server.ts", ""])).toEqual(["src/server.ts does not stand in the import table"]);
  });

  test("refuses files that need each other to load, and lets their types point both ways", () => {
    expect(
      found(
        ["src/keys/a.ts", `import { b } from "./b.ts";`],
        ["src/keys/b.ts", `import { c } from "./c.ts";`],
        ["src/keys/c.ts", `import { a } from "./a.ts";`],
      ),
    ).toEqual(["import cycle: src/keys/a.ts → src/keys/b.ts → src/keys/c.ts → src/keys/a.ts"]);
    expect(
      found(["src/keys/a.ts", `import { b } from "./b.ts";`], ["src/keys/b.ts", `import type { A } from "./a.ts";`]),
    ).toEqual([]);
  });
});
