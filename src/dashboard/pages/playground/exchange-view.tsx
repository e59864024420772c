import { Link } from "@tanstack/react-router";
import { LoaderCircle } from "lucide-react";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { CopyIconButton } from "../../components/copy.tsx";
import type { Exchange } from "./conversation.ts";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";
import { AnswerText } from "./answer-text.tsx";
import { RequestFailure } from "./request-failure.tsx";

/** `retry` is null where the question cannot be sent again. */
type Answer = { readonly exchange: Exchange; readonly retry: (() => void) | null };

/** A question with its answer, or with the answers of two models side by side. */
export function TurnView({ question, answers }: { readonly question: string; readonly answers: readonly Answer[] }) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  return (
    <li className="flex min-w-0 flex-col gap-3">
      <div className="max-w-[85%] self-end rounded-xl bg-sunken px-3.5 py-2.5">
        <p className="sr-only">{messages.you}:</p>
        <p className="break-words whitespace-pre-wrap">{question}</p>
      </div>
      {answers.length === 1 ? (
        answers.map((answer) => <AnswerView key={answer.exchange.id} {...answer} />)
      ) : (
        <div className="grid items-start gap-3 md:grid-cols-2">
          {answers.map((answer, side) => (
            // The sides stay where they are.
            // oxlint-disable-next-line react/no-array-index-key
            <div key={side} className="min-w-0 rounded-lg border border-line p-3">
              <AnswerView {...answer} />
            </div>
          ))}
        </div>
      )}
    </li>
  );
}

/** An answer, its cost and its time. */
function AnswerView({ exchange, retry }: Answer) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const { model, text, reasoning, state, isCutShort, error } = exchange;
  return (
    <div className="min-w-0">
      <p className="mb-1 font-mono text-xs break-all text-muted">{model}</p>
      {reasoning === "" ? null : (
        <details className="mb-2">
          <summary className="text-muted">{messages.reasoning}</summary>
          <p className="mt-1 break-words whitespace-pre-wrap text-muted">{reasoning}</p>
        </details>
      )}
      {text === "" ? null : <AnswerText text={text} />}
      {state === "running" && text === "" ? (
        <p className="flex items-center gap-2 text-muted">
          <LoaderCircle className="size-4 animate-spin" aria-hidden />
          {messages.thinking}
        </p>
      ) : null}
      {state === "done" && text === "" ? <p className="text-muted">{messages.nothing}</p> : null}
      {isCutShort ? <p className="mt-1 text-warn">{messages.cutShort}</p> : null}
      {state === "stopped" ? <p className="mt-1 text-muted">{messages.stopped}</p> : null}
      {error === null ? null : (
        <RequestFailure error={error} isPartial={text !== "" || reasoning !== ""} retry={retry} />
      )}
      {state === "running" ? null : <Figures exchange={exchange} />}
    </div>
  );
}

function Figures({ exchange: { counts, requestId, text, durationMs } }: { readonly exchange: Exchange }) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const formats = useFormats();
  if (counts === null && requestId === "") return null;
  return (
    <div className="digits mt-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-muted">
      {counts === null ? null : (
        <>
          <span>
            {formats.count(counts.input)} {messages.input}
            {counts.cached === 0 ? "" : ` (${formats.count(counts.cached)} ${messages.ofThem})`} +{" "}
            {formats.count(counts.output)} {messages.output} = {formats.count(counts.input + counts.output)}{" "}
            {messages.tokens}
          </span>
          <strong className="font-medium text-ink" data-testid="cost">
            {formats.exactRupiah(counts.costIdr)}
          </strong>
        </>
      )}
      {durationMs === null ? null : <span data-testid="duration">{formats.seconds(durationMs)}</span>}
      {requestId === "" ? null : (
        <Link
          to="/usage"
          search={{ tab: "requests", request: requestId }}
          className="inline-flex min-h-6 items-center underline underline-offset-2"
        >
          {messages.record}
        </Link>
      )}
      {text === "" ? null : <CopyIconButton text={text} what={messages.conversation} />}
    </div>
  );
}
