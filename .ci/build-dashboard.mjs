// Builds the dashboard into .dashboard/ when its sources are newer than the last build, and compresses every file once, so that
// the server only has to send it. Runs before `npm start` and `npm test`.
import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { root, run } from "./commands.mjs";

const folder = join(root, ".dashboard");
const stampFile = join(folder, "built-from");
const COMPRESSIBLE = /\.(js|css|html|svg|json|txt|md|woff2?)$/;

/** A digest of everything the build reads. */
function digestOfSources() {
  const files = globSync(["src/dashboard/**/*", "gen/**/*.ts", "package-lock.json", ".ci/build-dashboard.mjs"], {
    cwd: root,
    withFileTypes: true,
  });
  const digest = createHash("sha256");
  const paths = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.toSorted()) digest.update(path.slice(root.length)).update("\0").update(readFileSync(path));
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
  const files = globSync("**/*", { cwd: folder, withFileTypes: true });
  for (const entry of files) {
    if (entry.isFile() && COMPRESSIBLE.test(entry.name)) compress(join(entry.parentPath, entry.name));
  }
  writeFileSync(stampFile, digest);
}
