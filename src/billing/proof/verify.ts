// Verifies a statement without the database: every cost from its tokens and prices, the balance from its lines, the digests, the path to
// the root and the signatures. It reads the file line by line and reports what is wrong with the number of the line.

import { costOf } from "../cost.ts";
import {
  type OtherPricesJson,
  type OtherTokensJson,
  readOtherPrices,
  readOtherTokens,
} from "../../ledger/group-commit/token-columns.ts";
import { type ChainEnd, digestBehind, firstDigest, leafText, nextDigest, sealText } from "./chain.ts";
import { effectOf } from "./line.ts";
import { leafHash, type PathStep, rootOfPath } from "./merkle.ts";
import { isSignatureRight, type RootSignature } from "./signing.ts";

export type VerifiedStatement = {
  readonly ok: boolean;
  /** At most a hundred. */
  readonly problems: readonly string[];
  readonly account: string | null;
  /** Lines that the statement has. */
  readonly lines: number;
  /** The balance at its end, in micro-rupiah. */
  readonly balance: bigint;
  /** The last day that the root covers. */
  readonly through: string | null;
  readonly root: string | null;
  /** The ids of the keys that signed the root. */
  readonly keys: readonly string[];
  /** Whether the root was compared with a root or a key from elsewhere. */
  readonly trusted: boolean;
};

/** What a verifier has from elsewhere. Without either a statement shows only that it agrees with itself: anyone can sign one. */
export type Trust = {
  /** The exact texts of roots, such as from mails. */
  readonly roots?: ReadonlySet<string>;
  /** The public key of the service, SPKI in DER as Base64. */
  readonly key?: string;
};

const MOST_PROBLEMS = 100;

type Json = Readonly<Record<string, unknown>>;
type ProofJson = {
  readonly leaf: string | null;
  readonly path: readonly PathStep[];
  readonly root: { readonly text: string; readonly signatures: readonly RootSignature[] };
};

class Verifier {
  readonly problems: string[] = [];
  account: string | null = null;
  #digest: Buffer = Buffer.alloc(0);
  #balance = 0n;
  /** Lines from the account's beginning. */
  #count = 0n;
  #lines = 0;
  #number = 0;
  /** Lines since the last seal. */
  #open = 0;
  #seal: ChainEnd | null = null;
  #isOver = false;
  #root: Json | null = null;
  #keys: readonly string[] = [];
  readonly #trust: Trust;

  constructor(trust: Trust) {
    this.#trust = trust;
  }

  take(text: string): void {
    this.#number += 1;
    const json = readObject(text);
    if (json === null) return this.report("is no JSON object");
    if (asWritten(json) !== (isRow(json) ? null : text)) this.report("is not written as Saldo writes it");
    if (this.#isOver) return this.report("is behind the end of the statement");
    if (this.#number === 1) return this.#begin(json);
    if (json["type"] === "usage") return this.#usage(text, json);
    if (json["type"] === "posting") return this.#posting(text, json);
    if (json["type"] === "seal") return this.#sealed(text, json);
    if (json["type"] === "proof") return this.#end(json as unknown as ProofJson);
    this.report(`has the type ${JSON.stringify(json["type"])}, which no line has`);
  }

  finish(): VerifiedStatement {
    if (!this.#isOver) this.problems.push("The statement has no end.");
    const root = this.#root;
    return {
      ok: this.problems.length === 0,
      problems: this.problems,
      account: this.account,
      lines: this.#lines,
      balance: this.#balance,
      through: typeof root?.["day"] === "string" ? root["day"] : null,
      root: typeof root?.["root"] === "string" ? root["root"] : null,
      keys: this.#keys,
      trusted: this.problems.length === 0 && (this.#trust.roots !== undefined || this.#trust.key !== undefined),
    };
  }

  #begin(json: Json): void {
    if (json["type"] !== "statement" || json["version"] !== 1 || typeof json["account"] !== "string")
      return this.report("is not the header of a statement");
    this.account = json["account"];
    this.#digest = firstDigest(this.account);
    const opening = json["opening"] as ProofJson | null;
    if (opening === null) return;
    const leaf = this.#proved(opening);
    if (leaf === null) return;
    const end = readEnd(leaf);
    this.#digest = digestBehind(end);
    this.#balance = end.balance;
    this.#count = end.lines;
    this.#seal = end;
  }

  #line(text: string, effect: bigint): void {
    this.#digest = nextDigest(this.#digest, text);
    this.#balance += effect;
    this.#count += 1n;
    this.#lines += 1;
    this.#open += 1;
  }

  #usage(text: string, json: Json): void {
    const cost = BigInt(textOf(json["cost"]));
    const charge = BigInt(textOf(json["charge"]));
    const recomputed = costOf(
      {
        inputTokensUncached: Number(json["input_tokens"]),
        inputTokensCached: Number(json["cached_tokens"]),
        outputTokens: Number(json["output_tokens"]),
        otherTokens: readOtherTokens(json["other_tokens"] as OtherTokensJson | null),
      },
      {
        input: BigInt(textOf(json["input_price"])),
        output: BigInt(textOf(json["output_price"])),
        cacheHit: json["cache_hit_price"] === null ? null : BigInt(textOf(json["cache_hit_price"])),
        other: readOtherPrices(json["other_prices"] as OtherPricesJson | null),
      },
    );
    if (cost !== recomputed)
      this.report(`costs ${cost}, but its tokens come to ${recomputed} (request ${textOf(json["request"])})`);
    if (charge < 0n || charge > cost) this.report(`is charged ${charge} of a cost of ${cost}`);
    this.#line(text, -charge);
  }

  #posting(text: string, json: Json): void {
    const row = { asset: json["asset"], debit: json["debit"], credit: json["credit"], amount: json["amount"] };
    this.#line(text, effectOf(row as Parameters<typeof effectOf>[0], this.account ?? ""));
  }

  #sealed(text: string, json: Json): void {
    if (json["digest"] !== this.#digest.toString("hex"))
      this.report(`has another digest than the ${this.#open} lines before it`);
    if (json["balance"] !== String(this.#balance))
      this.report(`has the balance ${textOf(json["balance"])}, but the lines come to ${this.#balance}`);
    if (json["lines"] !== String(this.#count)) this.report(`counts ${textOf(json["lines"])} lines, not ${this.#count}`);
    const end = readEnd(json);
    if (text !== sealText(end)) this.report("has another form than a seal");
    if (end.seal <= (this.#seal?.seal ?? 0)) this.report("is no later seal than the one before");
    this.#digest = nextDigest(this.#digest, text);
    this.#seal = end;
    this.#open = 0;
  }

  #end(proof: ProofJson): void {
    this.#isOver = true;
    if (this.#open > 0) this.report(`has ${this.#open} lines before it that no seal covers`);
    if (proof.leaf !== (this.#seal && leafText(this.account ?? "", this.#seal)))
      this.report("proves another seal than the last one");
    this.#proved(proof);
    this.#keys = proof.root.signatures.map(({ key }) => key);
    this.#root = readObject(proof.root.text);
  }

  /** The leaf of a proof. Null: there is none, which proves nothing. */
  #proved({ leaf, path, root }: ProofJson): Json | null {
    if (root.signatures.length === 0) this.report("has a root without a signature");
    for (const signature of root.signatures)
      if (!isSignatureRight(root.text, signature)) this.report(`has a wrong signature of the key ${signature.key}`);
    const { roots, key } = this.#trust;
    if (roots !== undefined && !roots.has(root.text)) this.report("has a root that is not among the given ones");
    if (key !== undefined && !root.signatures.some(({ public_key }) => public_key === key))
      this.report("has a root that the given key did not sign");
    if (leaf === null) {
      this.report("proves nothing: it has no leaf");
      return null;
    }
    const reached = rootOfPath(leafHash(leaf), path).toString("hex");
    if (reached !== readObject(root.text)?.["root"]) this.report("has a path that does not lead to its root");
    const read = readObject(leaf);
    if (read?.["account"] !== this.account) this.report("has the leaf of another account");
    return read;
  }

  /** Reports a problem of the line at hand. */
  report(problem: string): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(`Line ${this.#number} ${problem}.`);
  }
}

/** Verifies the lines of a statement. What is no statement is reported as a problem. */
export async function verifyStatement(
  lines: AsyncIterable<string> | Iterable<string>,
  trust: Trust = {},
): Promise<VerifiedStatement> {
  const verifier = new Verifier(trust);
  try {
    for await (const line of lines) verifier.take(line);
  } catch (error) {
    // The file, or a member that is missing or of another type.
    verifier.report(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  return verifier.finish();
}

/** The text of a member, which is text or a number in what Saldo writes. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function readEnd(json: Json): ChainEnd {
  return {
    seal: Number(json["seal"]),
    lines: BigInt(textOf(json["lines"])),
    balance: BigInt(textOf(json["balance"])),
    digest: Buffer.from(textOf(json["digest"]), "hex"),
  };
}

/** Rows are compared by their digests, which cover every byte. */
function isRow({ type }: Json): boolean {
  return type === "usage" || type === "posting";
}

/** The text of a line with the members that Saldo writes, and no other. Null: it is a row. */
function asWritten(json: Json): string | null {
  if (isRow(json)) return null;
  const { type, version, account, opening } = json;
  if (type === "statement") return JSON.stringify({ type, version, account, opening: proofAsWritten(opening) });
  if (type === "proof") return JSON.stringify({ type, ...proofAsWritten(json) });
  return JSON.stringify(json);
}

function proofAsWritten(json: unknown): ProofJson | null {
  if (json === null) return null;
  const { leaf, path, root } = json as ProofJson;
  return {
    leaf,
    path: path.map(({ side, hash }) => ({ side, hash })),
    root: {
      text: root.text,
      signatures: root.signatures.map(({ key, public_key, signature }) => ({ key, public_key, signature })),
    },
  };
}

function readObject(text: string): Json | null {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Json) : null;
  } catch {
    return null;
  }
}
