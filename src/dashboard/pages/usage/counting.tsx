// How the counts of a request came about, where they are not simply what the upstream reported.

import type { UsageMetering } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useWords } from "../../i18n/language.tsx";
import { Fact, Mono } from "../../components/facts.tsx";
import { METERING_WORDS } from "./metering-words.ts";
import { inputOf, outputOf } from "./token-totals.ts";
import { USAGE_WORDS } from "./usage-words.ts";

/** The rules that were used, and what the upstream reported. */
export function Counting({ metering: { rules, reported } }: { readonly metering: UsageMetering }) {
  const words = useWords(USAGE_WORDS);
  const sentences: Readonly<Record<string, string>> = useWords(METERING_WORDS);
  const formats = useFormats();
  return (
    <section aria-label={words.counting} className="rounded-lg border border-line">
      <h3 className="border-b border-line px-3 py-2 font-medium">{words.counting}</h3>
      <div className="flex flex-col gap-3 p-3">
        {rules.length === 0 ? null : (
          <ul className="flex list-disc flex-col gap-1 pl-4">
            {rules.map((rule) => (
              <li key={rule}>{sentences[rule] ?? <Mono>{rule}</Mono>}</li>
            ))}
          </ul>
        )}
        {reported === undefined ? null : (
          <>
            <h4 className="text-muted">{words.reported}</h4>
            <dl className="digits flex flex-col gap-2">
              <Fact name={words.input}>{formats.count(inputOf(reported))}</Fact>
              <Fact name={words.cached}>{formats.count(reported.inputTokensCached)}</Fact>
              <Fact name={words.output}>{formats.count(outputOf(reported))}</Fact>
            </dl>
          </>
        )}
      </div>
    </section>
  );
}
