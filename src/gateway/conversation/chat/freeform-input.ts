// A freeform tool in chat: a function whose one member is the text.

/** The JSON schema of the function. */
export const FREEFORM_INPUT = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
} as const;

/** The arguments of a call with this text. */
export function freeformArguments(input: string): string {
  return JSON.stringify({ input });
}
