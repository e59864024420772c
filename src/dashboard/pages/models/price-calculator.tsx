import { useState } from "react";
import type { ModelPricing } from "#gen/saldo/gateway/v1/model_pb.ts";
import { UNKNOWN, useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { TextField } from "../../parts/field.tsx";
import { MODELS_WORDS } from "./models-words.ts";
import { priceOf, readTokens } from "./price-of.ts";

const EXAMPLE = { input: "10000", cached: "0", output: "1000" };

/** Tokens in, rupiah out. */
export function PriceCalculator({ pricing }: { readonly pricing: ModelPricing }) {
  const words = useWords(MODELS_WORDS);
  const formats = useFormats();
  const [typed, setTyped] = useState(EXAMPLE);
  const input = readTokens(typed.input);
  const cached = readTokens(typed.cached);
  const output = readTokens(typed.output);
  const price =
    input === null || cached === null || output === null ? null : priceOf({ input, cached, output }, pricing);
  const fields = [
    { name: "input", label: words.tokensIn, isWrong: input === null },
    { name: "cached", label: words.tokensCached, isWrong: cached === null },
    { name: "output", label: words.tokensOut, isWrong: output === null },
  ] as const;
  return (
    <section aria-label={words.calculator} className="rounded-lg border border-line">
      <h3 className="border-b border-line px-3 py-2 font-medium">{words.calculator}</h3>
      <div className="grid gap-3 p-3 sm:grid-cols-3">
        {fields.map(({ name, label, isWrong }) => (
          <TextField
            key={name}
            label={label}
            inputMode="numeric"
            value={typed[name]}
            onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
            {...(isWrong ? { problem: words.notCount } : {})}
          />
        ))}
      </div>
      <p className="digits flex items-baseline justify-between gap-4 border-t border-line px-3 py-2" aria-live="polite">
        <span className="text-muted">{words.comesTo}</span>
        <strong className="font-semibold">{price === null ? UNKNOWN : formats.exactRupiah(price)}</strong>
      </p>
    </section>
  );
}
