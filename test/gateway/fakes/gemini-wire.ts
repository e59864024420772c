// An answer of Google's Gemini API as the pieces of a stream, in the order in which it sends them.

export type Json = Readonly<Record<string, unknown>>;

/** The pieces of a stream that ends with this answer. Texts come in pieces of so many characters. */
export function piecesOf(answer: Json, pieceSize: number): Json[] {
  const { candidates, usageMetadata, ...rest } = answer;
  const [candidate] = (candidates ?? []) as Json[];
  if (candidate === undefined) return [answer];
  const { content, ...end } = candidate;
  const parts = ((content as Json | undefined)?.["parts"] ?? []) as Json[];
  const { promptTokenCount } = usageMetadata as Json;
  const pieces = parts.flatMap((part) => partPieces(part, pieceSize));
  const last = pieces.pop();
  const pieceOf = (part: Json | undefined, more: Json): Json => ({
    candidates: [{ ...(part === undefined ? {} : { content: { role: "model", parts: [part] } }), index: 0, ...more }],
    ...rest,
  });
  return [
    ...pieces.map((part) => ({
      ...pieceOf(part, {}),
      usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
    })),
    { ...pieceOf(last, end), usageMetadata },
  ];
}

/** The bytes of a piece: Google ends lines with CRLF, and names no events. */
export function sseOf(piece: Json): string {
  return `data: ${JSON.stringify(piece)}\r\n\r\n`;
}

/** A signature comes with the last piece of its text. */
function partPieces({ text, thoughtSignature, ...part }: Json, size: number): Json[] {
  const signed = thoughtSignature === undefined ? {} : { thoughtSignature };
  if (typeof text !== "string") return [{ ...part, ...signed }];
  const characters = Array.from(text);
  const pieces: Json[] = [];
  for (let at = 0; at < characters.length; at += size)
    pieces.push({ ...part, text: characters.slice(at, at + size).join("") });
  const last = pieces.pop();
  return last === undefined ? [{ ...part, text, ...signed }] : [...pieces, { ...last, ...signed }];
}
