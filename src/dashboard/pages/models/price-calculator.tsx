import { useState } from "react";
import type { ModelPricing } from "#gen/saldo/gateway/v1/model_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { PRICE_MESSAGES } from "../../i18n/price-messages.ts";
import { TextField } from "../../components/field.tsx";
import { MODELS_MESSAGES } from "./models-messages.ts";
import { priceOf, readTokens, tierOf, type Tokens } from "./price-of.ts";

const EXAMPLE: Readonly<Partial<Record<keyof Tokens, string>>> = { input: "10000", cached: "0", output: "1000" };
/** The counts of kinds without a field. */
const NO_TOKENS = { cached: 0n, output: 0n };
/** Token kinds with a field only where the model prices them. */
const OTHER_KINDS = ["cacheWrite", "cacheWrite1h", "audioInput", "imageInput", "imageOutput"] as const;

/** Tokens in, rupiah out. */
export function PriceCalculator({
  pricing,
  inputOnly,
}: {
  readonly pricing: ModelPricing;
  /** Whether the model has neither output nor cached input. */
  readonly inputOnly: boolean;
}) {
  const messages = useMessages(MODELS_MESSAGES);
  const kinds = useMessages(PRICE_MESSAGES);
  const formats = useFormats();
  const [typed, setTyped] = useState(EXAMPLE);
  const others = OTHER_KINDS.filter((kind) => pricing[kind] !== undefined);
  const fields = [
    { name: "input", label: messages.tokensIn },
    ...(inputOnly ? [] : ([{ name: "cached", label: messages.tokensCached }] as const)),
    ...others.map((kind) => ({ name: kind, label: kinds[kind] })),
    ...(inputOnly ? [] : ([{ name: "output", label: messages.tokensOut }] as const)),
  ] as const;
  const counts = new Map(fields.map(({ name }) => [name, readTokens(typed[name] ?? "0")]));
  const tokens = [...counts.values()].includes(null)
    ? null
    : ({ ...NO_TOKENS, ...Object.fromEntries(counts) } as Tokens);
  const tier = tokens === null ? undefined : tierOf(tokens, pricing);
  return (
    <section aria-label={messages.calculator} className="rounded-lg border border-line">
      <h2 className="border-b border-line px-3 py-2 font-medium">{messages.calculator}</h2>
      <div className="grid items-end gap-3 p-3 sm:grid-cols-3">
        {fields.map(({ name, label }) => (
          <TextField
            key={name}
            label={label}
            inputMode="numeric"
            value={typed[name] ?? "0"}
            onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
            {...(counts.get(name) === null ? { problem: messages.notCount } : {})}
          />
        ))}
      </div>
      <div className="border-t border-line px-3 py-2" aria-live="polite">
        <p className="digits flex items-baseline justify-between gap-4">
          <span className="text-muted">{messages.comesTo}</span>
          <strong className="font-semibold">
            {tokens === null ? UNKNOWN : formats.exactRupiah(priceOf(tokens, pricing))}
          </strong>
        </p>
        {tier === undefined ? null : (
          <p className="mt-1 text-[0.8125rem] text-muted">
            {messages.atLongContext} {formats.count(tier.above)}.
          </p>
        )}
      </div>
    </section>
  );
}
