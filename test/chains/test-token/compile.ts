// Compiles the test token, offline. `node test/chains/test-token/compile.ts` writes the committed file again.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";

/** What a test needs of the token. */
export type CompiledToken = {
  readonly compiler: string;
  readonly abi: readonly object[];
  readonly bytecode: `0x${string}`;
};

type Solc = { compile(input: string): string; version(): string };
type Output = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, { abi: object[]; evm: { bytecode: { object: string } } }>>;
};

const FILE = "TestToken.sol";
const committed = new URL("test-token.json", import.meta.url);

/** The token as committed. */
export function committedToken(): CompiledToken {
  return JSON.parse(readFileSync(committed, "utf8")) as CompiledToken;
}

/** The token as its source compiles now. Errors: the compiler's. */
export function compileToken(): CompiledToken {
  const before = process.listeners("unhandledRejection");
  const solc = createRequire(import.meta.url)("solc") as Solc;
  // It takes over the process's handling of rejections, which other tests share.
  for (const listener of process.listeners("unhandledRejection")) {
    if (!before.includes(listener)) process.removeListener("unhandledRejection", listener);
  }
  const input = {
    language: "Solidity",
    sources: { [FILE]: { content: readFileSync(new URL(FILE, import.meta.url), "utf8") } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: "paris",
      // Without it the bytecode would end with a hash of every setting and comment.
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: { [FILE]: { TestToken: ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  const compiled = output.contracts?.[FILE]?.["TestToken"];
  if (compiled === undefined) throw new Error(output.errors?.map((each) => each.formattedMessage).join("\n"));
  return { compiler: solc.version(), abi: compiled.abi, bytecode: `0x${compiled.evm.bytecode.object}` };
}

if (process.argv[1] === import.meta.filename) writeFileSync(committed, `${JSON.stringify(compileToken(), null, 2)}\n`);
