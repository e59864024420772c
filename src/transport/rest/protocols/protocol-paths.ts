/** The protocols beside chat, by the form of their errors. */
export type ProtocolFormat = "messages" | "responses";

const PATHS: readonly [RegExp, ProtocolFormat][] = [
  [/^\/v1\/messages(?:[/?]|$)/, "messages"],
  [/^\/v1\/responses(?:[/?]|$)/, "responses"],
];

/** The protocol whose path this is, or begins like it. Null: it is of none of them. */
export function protocolFormatAt(url: string): ProtocolFormat | null {
  return PATHS.find(([path]) => path.test(url))?.[1] ?? null;
}
