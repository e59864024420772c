import { Link } from "@tanstack/react-router";
import { Circle, CircleCheck, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { useWords } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { OVERVIEW_WORDS } from "./overview-words.ts";
import type { FirstSteps } from "./use-first-steps.ts";

/** What somebody new does first. The next step has the one green button. */
export function Checklist({ steps }: { readonly steps: FirstSteps }) {
  const words = useWords(OVERVIEW_WORDS);
  const { hasKey, firstRequest, hasBalance } = steps;
  return (
    <Card title={words.start}>
      <ol className="flex flex-col divide-y divide-line">
        <Step isDone={hasKey} title={words.keyStep} about={words.keyAbout}>
          <LinkButton to="/keys" search={{ create: true }} look="action">
            {words.keyAction}
          </LinkButton>
        </Step>
        <Step
          isDone={firstRequest !== null}
          title={words.requestStep}
          about={words.requestAbout}
          result={
            firstRequest === null ? null : (
              <Link
                to="/usage"
                search={{ tab: "requests", request: firstRequest.requestId }}
                className="text-good underline underline-offset-2"
              >
                {words.requestDone}
              </Link>
            )
          }
        >
          {hasKey ? (
            <span role="status" className="flex items-center gap-2 text-muted">
              <LoaderCircle className="size-4 animate-spin" aria-hidden />
              {words.requestWaiting}
            </span>
          ) : null}
          <LinkButton to="/keys">{words.requestAction}</LinkButton>
        </Step>
        <Step isDone={hasBalance} title={words.topUpStep} about={words.topUpAbout}>
          <LinkButton to="/billing" look={hasKey && firstRequest !== null ? "action" : "plain"}>
            {words.topUp}
          </LinkButton>
        </Step>
      </ol>
    </Card>
  );
}

type StepProps = {
  readonly isDone: boolean;
  readonly title: string;
  readonly about: string;
  /** What a step that is done leads to. */
  readonly result?: ReactNode;
  /** What is to be done. */
  readonly children: ReactNode;
};

function Step({ isDone, title, about, result, children }: StepProps) {
  const words = useWords(OVERVIEW_WORDS);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 py-3 first:pt-0 last:pb-0">
      <div className="flex min-w-0 flex-1 basis-72 gap-3">
        {isDone ? (
          <CircleCheck className="mt-0.5 size-5 shrink-0 text-good" aria-hidden />
        ) : (
          <Circle className="mt-0.5 size-5 shrink-0 text-muted" aria-hidden />
        )}
        <div className="min-w-0">
          <p className={`font-medium ${isDone ? "text-muted" : ""}`}>
            {title} <span className="sr-only">({isDone ? words.done : words.notDone})</span>
          </p>
          {isDone ? (result ?? null) : <p className="text-muted">{about}</p>}
        </div>
      </div>
      {isDone ? null : <div className="flex flex-wrap items-center gap-3">{children}</div>}
    </li>
  );
}
