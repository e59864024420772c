// How the fastify-parse proxy reads usage: it searches the bytes, without parsing every answer and chunk.

export type Usage = { readonly prompt: number; readonly completion: number; readonly cached: number };

// No usage object is longer than this.
const USAGE_TEXT = 600;
const LONGEST_TAIL = 8192;
const PROMPT_COUNT = /"(?:prompt|input)_tokens"\s*:\s*(\d+)/;
const COMPLETION_COUNT = /"(?:completion|output)_tokens"\s*:\s*(\d+)/;
const CACHED_COUNT = /"(?:cached|cache_read_input)_tokens"\s*:\s*(\d+)/;
const USAGE_SIGNS = [Buffer.from('"prompt_tokens"'), Buffer.from('"output_tokens"')];
/** How streams of chat, Messages and Responses end. */
const ENDS = [Buffer.from("[DONE]"), Buffer.from('"message_stop"'), Buffer.from('"response.completed"')];

/** The last usage object in an answer's text; null without one. */
export function readUsage(text: string): Usage | null {
  const at = text.lastIndexOf('"usage"');
  if (at < 0) return null;
  const object = text.slice(at, at + USAGE_TEXT);
  const prompt = PROMPT_COUNT.exec(object)?.[1];
  if (prompt === undefined) return null;
  return {
    prompt: Number(prompt),
    completion: Number(COMPLETION_COUNT.exec(object)?.[1] ?? 0),
    cached: Number(CACHED_COUNT.exec(object)?.[1] ?? 0),
  };
}

/** Passes a stream on, records the position of its usage and keeps back its end. */
export class UsageTail {
  usage: Usage | null = null;
  #tail: Buffer | null = null;
  #kept: Buffer[] = [];

  pass(data: Buffer): Buffer | null {
    if (this.#kept.length > 0) {
      this.#kept.push(data);
      return null;
    }
    if (this.#tail !== null || USAGE_SIGNS.some((sign) => data.includes(sign))) {
      const tail = this.#tail === null ? data : Buffer.concat([this.#tail, data]);
      this.#tail = tail.length > LONGEST_TAIL ? tail.subarray(-LONGEST_TAIL / 2) : tail;
    }
    if (!ENDS.some((end) => data.includes(end))) return data;
    this.#kept.push(data);
    return null;
  }

  end(): Buffer | null {
    if (this.#tail !== null) this.usage = readUsage(this.#tail.toString("latin1"));
    return this.#kept.length === 0 ? null : Buffer.concat(this.#kept);
  }
}
