// Builds the dashboard into .dashboard/ when its sources are newer than the last build, and compresses every file once, so that
// the server only has to send it. Runs before `npm start` and `npm test`, the first time with the Node that the machine has: the
// shell that has just installed a newer one goes on with the one it has met.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { root, run } from "./commands.mjs";

const folder = join(root, ".dashboard");
const stampFile = join(folder, "built-from");
const COMPRESSIBLE = /\.(js|css|html|svg|json|txt|md|woff2?)$/;

/** The paths of all files in a folder and below it. */
function filesIn(path) {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** A digest of everything the build reads. */
function digestOfSources() {
  const digest = createHash("sha256");
  const files = ["package-lock.json", ".ci/build-dashboard.mjs"].map((name) => join(root, name));
  const folders = ["src/dashboard", "src/docs/pages", "gen", "openapi"].flatMap((name) => filesIn(join(root, name)));
  for (const path of [...folders, ...files].toSorted())
    digest.update(path.slice(root.length)).update("\0").update(readFileSync(path));
  return digest.digest("hex");
}

function lastBuild() {
  try {
    return readFileSync(stampFile, "utf8");
  } catch {
    return null; // never built, or not to its end
  }
}

// Browsers take Brotli over https alone; behind plain http they get gzip.
function compress(path) {
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
}

const digest = digestOfSources();
if (lastBuild() !== digest) {
  const words = ["build", "--config", "src/dashboard/vite.config.ts", "--logLevel", "warn"];
  // Inherited from a test runner it would be another one, and React the slow one for development.
  const { ok, output } = run("vite", words, { env: { NODE_ENV: "production" } });
  if (!ok) {
    console.error(output);
    process.exit(1);
  }
  for (const path of filesIn(folder)) if (COMPRESSIBLE.test(path)) compress(path);
  writeFileSync(stampFile, digest);
}
