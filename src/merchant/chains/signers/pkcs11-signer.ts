// A key on a token (PKCS#11: a hardware module, or SoftHSM), by `pkcs11-tool` of OpenSC. The vendor's library is loaded by that program
// and not by us: a library that crashes or hangs takes no gateway with it. The PIN is in the program's environment alone.

import { spawn } from "node:child_process";
import { addressOfPublicKey, parsePlainSignature } from "./signature-format.ts";
import type { Signer } from "./signer.ts";
import { type Ran, TokenAccess } from "./token-access.ts";

export type Pkcs11Settings = {
  /** The program `pkcs11-tool`. */
  readonly tool: string;
  /** The vendor's library. */
  readonly module: string;
  /** The label of the token. */
  readonly token: string;
  /** The id of the key pair (CKA_ID), in hexadecimal digits. By a label, `pkcs11-tool` signs with whatever key comes first. */
  readonly keyId: string;
  readonly pin: string;
  /** Where a refused PIN is remembered for later starts. Left out: nowhere. */
  readonly refusedPinFile?: string;
  /** The environment of the program, in which the library finds its own settings. It has no secret of Saldo. */
  readonly environment: Readonly<Record<string, string>>;
};

const PIN_VARIABLE = "SALDO_TOKEN_PIN";
const MOST_OUTPUT = 16_384;
/** So much of the program's own error is reported. */
const MOST_REPORTED = 300;

/** Makes the signer. Nothing is asked yet. */
export function createPkcs11Signer(settings: Pkcs11Settings, access = TokenAccess.to(settings)): Signer {
  const { tool, module, token, keyId, pin, environment } = settings;
  const where = ["--module", module, "--token-label", token, "--id", keyId];

  function run(words: readonly string[], input: Uint8Array, signal: AbortSignal): Promise<Buffer> {
    return access.ask(() => runTool(tool, [...where, ...words], { input, pin, environment, signal }), signal);
  }

  return {
    kind: "pkcs11",
    address: async (signal) =>
      addressOfPublicKey(await run(["--read-object", "--type", "pubkey"], Buffer.alloc(0), signal)),
    sign: async (digest, signal) => {
      const words = [
        "--login",
        "--pin",
        `env:${PIN_VARIABLE}`,
        "--sign",
        "--mechanism",
        "ECDSA",
        "--signature-format",
        "rs",
      ];
      return parsePlainSignature(await run(words, Buffer.from(digest.slice(2), "hex"), signal));
    },
  };
}

/** Runs the program to its end. Errors: that it cannot be run, or has not ended in time. */
function runTool(
  tool: string,
  words: readonly string[],
  {
    input,
    pin,
    environment,
    signal,
  }: Pick<Pkcs11Settings, "pin" | "environment"> & { readonly input: Uint8Array; readonly signal: AbortSignal },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(tool, words, {
      env: { ...environment, [PIN_VARIABLE]: pin },
      stdio: ["pipe", "pipe", "pipe"],
      signal,
      killSignal: "SIGKILL",
    });
    const output = collect();
    const problems = collect();
    child.stdout.on("data", (part: Buffer) => void (output.add(part) || child.kill("SIGKILL")));
    child.stderr.on("data", (part: Buffer) => void problems.add(part));
    // It may end before it has read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.once("error", reject);
    child.once("close", (code, killed) => {
      const failed = code !== 0 || output.isFull();
      const stated = problems.bytes().toString().replaceAll(pin, "…").replaceAll(/\s+/g, " ").trim();
      const problem = failed ? `${tool} ended with ${code ?? killed}: ${stated.slice(0, MOST_REPORTED)}` : null;
      resolve({ output: output.bytes(), problem });
    });
  });
}

/** What a stream gave, up to a bound. */
function collect() {
  const parts: Buffer[] = [];
  let size = 0;
  return {
    /** False: it is more than the bound. */
    add(part: Buffer): boolean {
      size += part.length;
      if (size <= MOST_OUTPUT) parts.push(part);
      return size <= MOST_OUTPUT;
    },
    isFull: () => size > MOST_OUTPUT,
    bytes: () => Buffer.concat(parts),
  };
}
