// The package that a gateway serves: all of saldo-agents in one file, with the address it was served from. It is built from
// the sources when it is first asked for, so that it can never be another version than the gateway. The package for a registry
// knows no address.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { packageVersion } from "../kernel/version.ts";

const ENTRY = fileURLToPath(new URL("main.ts", import.meta.url));
const PROGRAM = "saldo-agents.mjs";
const BLOCK_BYTES = 512;

const version = packageVersion();
const manifest = {
  name: "saldo-agents",
  version,
  description: "Points coding agents at a Saldo gateway, and back",
  keywords: ["coding-agents", "claude-code", "codex", "gemini-cli", "opencode", "saldo"],
  license: "MIT",
  type: "module",
  bin: { "saldo-agents": PROGRAM },
  engines: { node: ">=20.12" },
};

/** Returns the package of a gateway at this address; it is built once. */
export function agentsPackage(servedBy: () => string): () => Promise<Buffer> {
  let built: Promise<Buffer> | undefined;
  return () => {
    built ??= buildPackage(servedBy()).catch((error: unknown) => {
      built = undefined;
      throw error;
    });
    return built;
  };
}

export type PackageFile = { readonly name: string; readonly mode: number; readonly bytes: Buffer };

/** The files of the package for a registry: those that a gateway serves, with a guide and the licence. */
export async function publishedFiles(): Promise<PackageFile[]> {
  const texts = [
    { name: "README.md", url: new URL("PACKAGE.md", import.meta.url) },
    { name: "LICENSE", url: new URL("../../LICENSE", import.meta.url) },
  ].map(async ({ name, url }) => ({ name, mode: 0o644, bytes: await readFile(url) }));
  return [...(await packageFiles(null)), ...(await Promise.all(texts))];
}

async function packageFiles(servedBy: string | null): Promise<PackageFile[]> {
  return [
    { name: "package.json", mode: 0o644, bytes: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) },
    { name: PROGRAM, mode: 0o755, bytes: Buffer.from(await bundle(servedBy)) },
  ];
}

/** The package as npm takes it: a compressed archive with one folder. */
async function buildPackage(servedBy: string): Promise<Buffer> {
  const files = await packageFiles(servedBy);
  const end = Buffer.alloc(2 * BLOCK_BYTES);
  return promisify(gzip)(Buffer.concat([...files.flatMap(archived), end]));
}

/** All sources and what they use as one file for Node 20.12. */
async function bundle(servedBy: string | null): Promise<string> {
  // Loaded only here: most processes never bundle.
  const { rolldown } = await import("rolldown");
  await using built = await rolldown({
    input: ENTRY,
    platform: "node",
    // What packages write for bundlers; their other files load each other in ways that a bundle cannot.
    resolve: { mainFields: ["module", "main"] },
    transform: {
      target: "node20.12",
      define: { SERVED_BY: JSON.stringify(servedBy), PACKAGE_VERSION: JSON.stringify(version) },
    },
  });
  const { output } = await built.generate({ format: "esm", minify: true, codeSplitting: false });
  return `#!/usr/bin/env node\n${output[0].code}`;
}

/** A file in the form of a tar archive: what is known of it, and its bytes up to a full block. */
function archived({ name, mode, bytes }: PackageFile): Buffer[] {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(`package/${name}`, 0);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(bytes.length, 11), 124);
  header.write(octal(0, 11), 136);
  // The sum of the header is taken with blanks in its own place.
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148);
  const padding = Buffer.alloc((BLOCK_BYTES - (bytes.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return [header, bytes, padding];
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, "0")}\0`;
}
