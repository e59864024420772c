// How the tokens of a request were counted, where the counts are not simply the upstream's.

import type { UsageMetering } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Fact, Mono } from "../../components/facts.tsx";
import { METERING_MESSAGES } from "./metering-messages.ts";
import { inputOf, outputOf } from "./token-totals.ts";
import { useRequestMessages } from "./use-request-messages.ts";

/** The rules that were used, and the upstream's own counts. */
export function Counting({ metering: { rules, reported } }: { readonly metering: UsageMetering }) {
  const messages = useRequestMessages();
  const sentences: Readonly<Record<string, string>> = useMessages(METERING_MESSAGES);
  const formats = useFormats();
  return (
    <section aria-label={messages.counting} className="rounded-lg border border-line">
      <h3 className="border-b border-line px-3 py-2 font-medium">{messages.counting}</h3>
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
            <h4 className="text-muted">{messages.reported}</h4>
            <dl className="digits flex flex-col gap-2">
              <Fact name={messages.input}>{formats.count(inputOf(reported))}</Fact>
              <Fact name={messages.cached}>{formats.count(reported.inputTokensCached)}</Fact>
              <Fact name={messages.output}>{formats.count(outputOf(reported))}</Fact>
            </dl>
          </>
        )}
      </div>
    </section>
  );
}
