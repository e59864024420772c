// A real token without hardware: SoftHSM, asked by `pkcs11-tool` of OpenSC. They are those of the machine, or Debian's packages, which
// are unpacked beside the tests and not installed. Without them a test is skipped and shows why; in CI (`CI=true`) it fails.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";
import type { Pkcs11Settings } from "../../src/merchant/chains/signers/pkcs11-signer.ts";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/saldo-soft-hsm", import.meta.url));
const UNPACKED = join(CACHE, "unpacked");
const FETCH_MS = 120_000;

type Programs = { readonly tool: string; readonly util: string; readonly module: string };

/** The programs, or why there are none. */
export type FoundSoftHsm = Programs | { readonly missing: string };

/** Finds SoftHSM and `pkcs11-tool`, or fetches them once. */
export function findSoftHsm(): FoundSoftHsm {
  const installed = moduleBelow("/");
  const has = (program: string, word: string): boolean => spawnSync(program, [word]).error === undefined;
  if (installed !== null && has("pkcs11-tool", "--version") && has("softhsm2-util", "--version"))
    return { tool: "pkcs11-tool", util: "softhsm2-util", module: installed };
  if (!existsSync(UNPACKED)) {
    if (spawnSync("dpkg-deb", ["--version"]).status !== 0) return { missing: "this machine has no packages of Debian" };
    mkdirSync(CACHE, { recursive: true });
    const folder = mkdtempSync(join(CACHE, "fetch-"));
    try {
      fetchPackages(folder);
    } catch (error) {
      return { missing: `Debian's packages softhsm2 and opensc were not fetched: ${String(error)}` };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const module = moduleBelow(UNPACKED);
  if (module === null) return { missing: `${UNPACKED} has no SoftHSM` };
  return { tool: join(UNPACKED, "pkcs11-tool"), util: join(UNPACKED, "softhsm2-util"), module };
}

/** Unpacks the two packages and what this machine lacks for them, and installs nothing. */
function fetchPackages(folder: string): void {
  const run = (program: string, ...words: string[]): string =>
    execFileSync(program, words, { cwd: folder, stdio: "pipe", timeout: FETCH_MS, encoding: "utf8" });
  const lacking = (): string[] =>
    Array.from(
      run("apt-get", "--simulate", "install", "--no-install-recommends", "softhsm2", "opensc").matchAll(
        /^Inst (\S+)/gm,
      ),
    ).map(([, name = ""]) => name);
  try {
    run("apt-get", "-qq", "download", ...lacking());
  } catch (error) {
    if (process.getuid?.() !== 0) throw error;
    run("apt-get", "-qq", "update");
    run("apt-get", "-qq", "download", ...lacking());
  }
  const root = join(folder, "root");
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".deb")))
    run("dpkg-deb", "--extract", name, root);
  for (const program of ["pkcs11-tool", "softhsm2-util"]) {
    const libraries = ["usr/lib", "lib"].map((each) => join(UNPACKED, each, TRIPLE)).join(":");
    const lines = ["#!/bin/sh", `LD_LIBRARY_PATH=${libraries} exec ${join(UNPACKED, "usr/bin", program)} "$@"`, ""];
    writeFileSync(join(root, program), lines.join("\n"), { mode: 0o755 });
  }
  try {
    renameSync(root, UNPACKED);
  } catch (error) {
    // Another file of tests has unpacked the same meanwhile.
    if (!existsSync(UNPACKED)) throw error;
  }
}

const TRIPLE = `${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`;

function moduleBelow(root: string): string | null {
  const places = ["usr/lib/softhsm", `usr/lib/${TRIPLE}/softhsm`].map((each) => join(root, each, "libsofthsm2.so"));
  return places.find((each) => existsSync(each)) ?? null;
}

/** The token of a test. Without one the test ends here and shows why. */
export function tokenOf(context: TestContext, opened: SoftToken | { readonly missing: string }): SoftToken {
  if (opened instanceof SoftToken) return opened;
  return context.skip(opened.missing);
}

/** A token with a key of secp256k1 that cannot leave it. */
export class SoftToken {
  /** How a signer asks it for its first key. */
  readonly settings: Pkcs11Settings;
  readonly #folder: string;
  readonly #util: string;

  private constructor({ tool, util, module }: Programs, folder: string) {
    this.#util = util;
    this.#folder = folder;
    const environment = { PATH: process.env["PATH"] ?? "", SOFTHSM2_CONF: join(folder, "softhsm2.conf") };
    this.settings = { tool, module, token: "saldo-test", keyId: "01", pin: "7654321", environment };
  }

  /** A new token, or why there is none. Errors: the same in CI. */
  static async open(): Promise<SoftToken | { readonly missing: string }> {
    const found = findSoftHsm();
    if ("missing" in found && process.env["CI"] !== undefined) throw new Error(found.missing);
    if ("missing" in found) return found;
    const folder = await mkdtemp(join(tmpdir(), "saldo-token-"));
    const token = new SoftToken(found, folder);
    await mkdir(join(folder, "tokens"));
    const lines = [
      `directories.tokendir = ${join(folder, "tokens")}`,
      "objectstore.backend = file",
      "log.level = ERROR",
    ];
    await writeFile(join(folder, "softhsm2.conf"), `${lines.join("\n")}\n`);
    const { token: label, pin, keyId } = token.settings;
    token.#run(
      token.#util,
      "--module",
      found.module,
      "--init-token",
      "--free",
      "--label",
      label,
      "--so-pin",
      "12345678",
      "--pin",
      pin,
    );
    token.makeKey(keyId);
    return token;
  }

  /** Makes another key pair on the token. */
  makeKey(id: string, curve = "secp256k1"): void {
    const { tool, module, token, pin } = this.settings;
    const login = ["--module", module, "--token-label", token, "--login", "--pin", pin];
    this.#run(tool, ...login, "--keypairgen", "--key-type", `EC:${curve}`, "--id", id, "--label", `key ${id}`);
  }

  async drop(): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }

  #run(program: string, ...words: string[]): void {
    execFileSync(program, words, { env: this.settings.environment, stdio: "pipe", timeout: FETCH_MS });
  }
}
