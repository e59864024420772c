// The request of every load: the same bytes for every target, rendered once before the clock starts.

/** The path every target serves. */
export const CHAT_PATH = "/v1/chat/completions";

/** The catalog id all requests ask for. */
export const MODEL_ID = "bench/large";

// Long enough that the input tokens which the mock upstream reports are physically possible.
const SENTENCE = "Explain in plain words how money set aside for a request is captured and the rest given back. ";

/** The JSON text of a chat request. `bodyKb` adds one message of about so many kilobytes. */
export function chatBody({ stream, bodyKb }: { stream: boolean; bodyKb: number }): string {
  const messages = [
    { role: "system", content: "You answer briefly." },
    { role: "user", content: SENTENCE.repeat(3) },
    { role: "assistant", content: SENTENCE.repeat(2) },
    { role: "user", content: SENTENCE.repeat(2) },
  ];
  if (bodyKb > 0) {
    const line = `${SENTENCE}It "quotes", and it breaks lines.\n`;
    messages.splice(1, 0, { role: "user", content: line.repeat(Math.ceil((bodyKb * 1024) / line.length)) });
  }
  const common = { model: MODEL_ID, messages, max_tokens: 512, temperature: 0.7, stream };
  return JSON.stringify(stream ? { ...common, stream_options: { include_usage: true } } : common);
}

/** One request as it goes onto the wire; the body is shared by all keys. */
export type RenderedRequest = { readonly head: Buffer; readonly body: Buffer | null };

// Above this size head and body are written separately, so that a thousand keys do not need a thousand copies of the
// body.
const WHOLE_REQUEST_BYTES = 8192;

/** Renders one request per key and hands them out in turn, starting anywhere. */
export function rotateRequests(options: {
  readonly origin: URL;
  readonly keys: readonly string[];
  readonly body: string;
}): () => RenderedRequest {
  const body = Buffer.from(options.body);
  const requests = options.keys.map((key): RenderedRequest => {
    const head = Buffer.from(
      `POST ${CHAT_PATH} HTTP/1.1\r\nHost: ${options.origin.host}\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    return body.length <= WHOLE_REQUEST_BYTES ? { head: Buffer.concat([head, body]), body: null } : { head, body };
  });
  let turn = Math.floor(Math.random() * requests.length);
  return () => {
    turn = turn + 1 < requests.length ? turn + 1 : 0;
    const request = requests[turn];
    if (request === undefined) throw new Error("a load needs at least one key");
    return request;
  };
}
