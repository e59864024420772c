// node verify-statement.mjs FILE [PUBLIC KEY]: recomputes a statement of Saldo with nothing but Node. It exits with 1 when anything is wrong.
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";
const sha = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const check = (isRight, problem) => void (isRight || (process.stdout.write(`${problem}\n`), (process.exitCode = 1)));
const membersOf = (text) => Object.keys(JSON.parse(text)).join();
const same = (text) =>
  check(JSON.stringify(JSON.parse(text)) === text, `is written in another form: ${text.slice(0, 80)}`);
const kinds = [
  "input",
  "cache_hit",
  "cache_write",
  "cache_write_1h",
  "audio_input",
  "image_input",
  "output",
  "image_output",
];
function costOf(line) {
  const own = line.other_prices ?? {};
  const rare = Object.fromEntries(
    Object.entries(line.other_tokens ?? {}).map(([kind, count]) => [kind, BigInt(count)]),
  );
  const tokens = {
    ...rare,
    input: BigInt(line.input_tokens),
    cache_hit: BigInt(line.cached_tokens),
    output: BigInt(line.output_tokens),
  };
  const count = (names) => names.reduce((sum, kind) => sum + (tokens[kind] ?? 0n), 0n);
  const tier = own.long_context?.findLast(({ above }) => count(kinds.slice(0, 6)) > BigInt(above));
  const price = tier ?? { ...own, input: line.input_price, output: line.output_price, cache_hit: line.cache_hit_price };
  const [write, hour] = [BigInt(price.cache_write ?? price.input), BigInt(own.cache_write_1h ?? 0)];
  const prices = {
    audio_input: own.audio_input,
    image_input: own.image_input,
    image_output: own.image_output,
    ...price,
  };
  prices.cache_write_1h = tier?.cache_write_1h ?? (hour > write ? hour : write);
  const priceOf = (kind, at) => BigInt(prices[kind] ?? (at < 6 ? price.input : price.output));
  const total = kinds.reduce((sum, kind, at) => sum + (tokens[kind] ?? 0n) * priceOf(kind, at), 0n);
  return (total + 999_999n) / 1_000_000n + (count(kinds) > 0n ? BigInt(own.per_request ?? 0) : 0n);
}
const hex = (hash) => Buffer.from(/^[0-9a-f]{64}$/.test(hash) ? hash : "", "hex");
function prove({ leaf, path, root: { text, signatures } }) {
  const step = (hash, { side, hash: beside }) =>
    side === "left" ? sha("\x01", hex(beside), hash) : sha("\x01", hash, hex(beside));
  const sound = path.every(({ side }) => side === "left" || side === "right");
  if (leaf !== null)
    check(
      sound && path.reduce(step, sha("\x00", leaf)).toString("hex") === JSON.parse(text).root,
      "the path does not lead to the root",
    );
  const pinned = process.argv[3];
  check(signatures.length > 0 && leaf !== null, "the proof has no signature or no leaf");
  check(!pinned || signatures.some((each) => each.public_key === pinned), "the given key did not sign the root");
  for (const { key, public_key: base64, signature } of signatures) {
    const spki = Buffer.from(base64, "base64");
    const bytes = Buffer.from(signature, "base64");
    const isWritten = spki.toString("base64") === base64 && bytes.toString("base64") === signature;
    const isNamed = sha(spki).toString("hex").slice(0, 16) === key;
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
    check(
      isWritten && isNamed && verify(null, Buffer.from(text), publicKey, bytes),
      `the signature of ${key} is wrong`,
    );
  }
  return leaf === null ? null : JSON.parse(leaf);
}
const file = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(process.argv[2]));
check(file.endsWith("\n"), "the last line has no end");
const [header, ...lines] = file.split("\n").slice(0, -1);
const { account, opening, type, version } = JSON.parse(header);
same(header);
check(
  type === "statement" && version === 1 && membersOf(header) === "type,version,account,opening",
  "this is no statement",
);
const behind = ({ seal: number, lines: before, balance: sum, digest: hash }) =>
  sha(
    Buffer.from(hash, "hex"),
    JSON.stringify({ type: "seal", seal: number, lines: before, balance: sum, digest: hash }),
  );
let seal = opening && prove(opening);
check(seal === null || seal.account === account, "the opening is of another account");
let digest = seal ? behind(seal) : sha(`saldo account ${account}`);
let [balance, count, open] = [BigInt(seal?.balance ?? 0), BigInt(seal?.lines ?? 0), 0];
for (const text of lines.slice(0, -1)) {
  const line = JSON.parse(text);
  if (line.type === "seal") {
    const end = {
      type: "seal",
      seal: line.seal,
      lines: `${count}`,
      balance: `${balance}`,
      digest: digest.toString("hex"),
    };
    check(
      JSON.stringify(end) === text && line.seal > (seal?.seal ?? 0),
      `seal ${line.seal} is not that of the lines before it`,
    );
    [seal, digest, open] = [{ account, ...end }, sha(digest, text), 0];
    delete seal.type;
    continue;
  }
  const [cost, charge] = line.type === "usage" ? [costOf(line), BigInt(line.charge)] : [0n, 0n];
  check(
    line.type === "posting" || (line.type === "usage" && cost === BigInt(line.cost)),
    `cost ${line.cost} is not ${cost}: ${line.request}`,
  );
  check(charge >= 0n && charge <= cost, `charge ${charge} of a cost of ${cost}`);
  const sides = line.asset === "IDR/6" ? BigInt(line.credit === account) - BigInt(line.debit === account) : 0n;
  balance += sides * BigInt(line.amount ?? 0) - charge;
  [digest, count, open] = [sha(digest, text), count + 1n, open + 1];
}
same(lines.at(-1));
const { type: last, ...proof } = JSON.parse(lines.at(-1));
check(
  last === "proof" && open === 0 && membersOf(lines.at(-1)) === "type,leaf,path,root",
  "the statement has no end, or lines that no seal covers",
);
check((proof.leaf ?? null) === (seal && JSON.stringify(seal)), "the proof is of another seal");
prove(proof);
if (!process.exitCode && !process.argv[3])
  process.stdout.write(`Without a public key of the service anyone could have signed this.\n`);
if (!process.exitCode) process.stdout.write(`ok: ${account} has ${balance} micro-rupiah. ${proof.root.text}\n`);
