// How Anthropic's models count, by the name that is asked for. Their tokenizer is not public: `test/gateway/fixtures/token-counts.md`
// has the published counts that these figures come from.

import type { CountRules } from "../count-conversation.ts";

/** Anthropic's prompt before tools, and what it has more where the model must call one. */
type ToolsPrompt = { readonly tokens: number; readonly moreWhereForced: number };

/** `more`: the tokens of a text for one of the models before them. */
type Family = { readonly name: RegExp; readonly toolsPrompt: ToolsPrompt; readonly more: number };

const NEW_TOKENIZER = 1.3;
const FAMILIES: readonly Family[] = [
  { name: /opus-4[.-]7/, toolsPrompt: { tokens: 675, moreWhereForced: 129 }, more: NEW_TOKENIZER },
  { name: /opus-(?:4[.-]8|[5-9])/, toolsPrompt: { tokens: 290, moreWhereForced: 120 }, more: NEW_TOKENIZER },
  {
    name: /(?:sonnet|haiku)-[5-9]|fable|mythos/,
    toolsPrompt: { tokens: 354, moreWhereForced: 120 },
    more: NEW_TOKENIZER,
  },
  { name: /(?:opus|sonnet|haiku)-4[.-][56]/, toolsPrompt: { tokens: 497, moreWhereForced: 92 }, more: 1 },
];
/** Earlier models, and models of others. Claude Code subtracts this much, and more, where it counts its tools one by one. */
const OTHERS: Omit<Family, "name"> = { toolsPrompt: { tokens: 346, moreWhereForced: -33 }, more: 1 };

const RULES: CountRules = {
  perToken: 1.11,
  perTokenOfTools: 1.2,
  perInnerWord: 0.6,
  before: 3,
  aroundAnInstruction: 0,
  aroundATurn: 4,
  aroundATool: 20,
  aroundACall: 26,
  aroundAResult: 10,
  aroundAParameter: 12,
};

/** Whether a model has Anthropic's newer tokenizer, by its name at an upstream of any kind. */
export function hasDenseTokenizer(model: string): boolean {
  return familyOf(model).more > 1;
}

/** How a model counts, and its prompt before tools. */
export function claudeCounts(model: string): { readonly rules: CountRules; readonly toolsPrompt: ToolsPrompt } {
  const { toolsPrompt, more } = familyOf(model);
  const { perToken, perTokenOfTools, perInnerWord, ...around } = RULES;
  const scaled = { perToken: perToken * more, perTokenOfTools: perTokenOfTools * more };
  return { rules: { ...around, ...scaled, perInnerWord: perInnerWord * more }, toolsPrompt };
}

function familyOf(model: string): Omit<Family, "name"> {
  return FAMILIES.find(({ name }) => name.test(model)) ?? OTHERS;
}
