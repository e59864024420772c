// Models with output that is charged and not shown, although the catalog does not mark them `hidden_output`. The relayed text
// does not show the cost of their streams, so a slab would be held for an answer that costs many. The first answer that shows
// hidden output is enough: from then on every process holds the whole bound for the model.

import type { Pool } from "pg";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { outputTokensOf } from "../../billing/cost.ts";
import type { BilledUsage } from "../metering/bill.ts";

/** Fewer tokens than this are no hidden output: tokenizers differ. */
const LEAST_HIDDEN_TOKENS = 64;
/** The same where an upstream reports no reasoning: some count the frame of their answers. */
const LEAST_UNNAMED_TOKENS = 256;
/** No usual text has more tokens than one for so few bytes, and none fewer than one for so many. */
const LEAST_BYTES_PER_TOKEN = 2;
const MOST_BYTES_PER_TOKEN = 8;
/** How long a model without hidden output is not counted again: counting costs as much as an estimate. */
const LOOK_AGAIN_MS = 60_000;

const ADD = `
INSERT INTO learned_model (model, upstream, request_id) VALUES ($1, $2, $3) ON CONFLICT (model) DO NOTHING`;
const READ = `SELECT model, upstream, hidden_output_since AS "since" FROM learned_model`;

export type LearnedModel = { readonly model: string; readonly upstream: string; readonly since: Date };

/** An answer that is complete and was billed. */
export type BilledAnswerFacts = {
  readonly model: CatalogModel;
  readonly upstream: string;
  readonly requestId: string;
  readonly billed: BilledUsage;
  /** Bytes of the text that the upstream has written, whether or not its client had stayed. */
  readonly textBytes: number;
  /** The tokens in that text by our count; null where it was not kept. */
  readonly countTokens: (() => Promise<number>) | null;
};

export class LearnedModels {
  readonly #hidden = new Set<string>();
  readonly #unwritten = new Map<string, BilledAnswerFacts>();
  readonly #lookedAtMs = new Map<string, number>();
  readonly #marked = new WeakMap<CatalogModel, CatalogModel>();

  /** The model with the facts learned about it. */
  apply(model: CatalogModel): CatalogModel {
    if (model.hiddenOutput || !this.#hidden.has(model.id)) return model;
    let marked = this.#marked.get(model);
    if (marked === undefined) {
      marked = { ...model, hiddenOutput: true };
      this.#marked.set(model, marked);
    }
    return marked;
  }

  /** Looks at an answer. True: it shows for the first time that output of its model is hidden. */
  async learn(facts: BilledAnswerFacts): Promise<boolean> {
    const { model, billed } = facts;
    if (model.hiddenOutput || this.#hidden.has(model.id)) return false;
    if (billed.basis !== "exact" && billed.basis !== "drained") return false;
    if (!(await this.#hidesOutput(facts))) return false;
    if (this.#hidden.has(model.id)) return false;
    this.#hidden.add(model.id);
    this.#unwritten.set(model.id, facts);
    return true;
  }

  /**
   * Whether half of the billed reasoning, or of all output where none was reported, is missing in the text that was written. The
   * bytes of the text decide where they can; else its tokens are counted.
   */
  async #hidesOutput({ model, billed, textBytes, countTokens }: BilledAnswerFacts): Promise<boolean> {
    const { reasoningTokens } = billed;
    const outputTokens = outputTokensOf(billed.counts);
    const least =
      reasoningTokens > 0
        ? Math.max(LEAST_HIDDEN_TOKENS, reasoningTokens / 2)
        : Math.max(LEAST_UNNAMED_TOKENS, outputTokens / 2);
    if (outputTokens - textBytes / MOST_BYTES_PER_TOKEN < least) return false;
    if (outputTokens - textBytes / LEAST_BYTES_PER_TOKEN >= least) return true;
    if (countTokens === null) return false;
    const now = performance.now();
    if (now < (this.#lookedAtMs.get(model.id) ?? -Infinity) + LOOK_AGAIN_MS) return false;
    this.#lookedAtMs.set(model.id, now);
    return outputTokens - (await countTokens()) >= least;
  }

  /** Writes what this process has learned and reads what others have. The next call repeats a write that failed. */
  async exchange(pool: Pick<Pool, "query">): Promise<void> {
    for (const [id, { upstream, requestId }] of this.#unwritten) {
      await pool.query(ADD, [id, upstream, requestId]);
      this.#unwritten.delete(id);
    }
    for (const { model } of await readLearnedModels(pool)) this.#hidden.add(model);
  }
}

/** Reads what all processes have learned. */
export async function readLearnedModels(pool: Pick<Pool, "query">): Promise<readonly LearnedModel[]> {
  const { rows } = await pool.query<LearnedModel>(READ);
  return rows;
}
