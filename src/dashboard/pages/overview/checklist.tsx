import { Link } from "@tanstack/react-router";
import { Circle, CircleCheck, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { OVERVIEW_MESSAGES } from "./overview-messages.ts";
import type { FirstSteps } from "./use-first-steps.ts";

/** The first steps of a new account. The next step has the one green button. */
export function Checklist({ steps }: { readonly steps: FirstSteps }) {
  const messages = useMessages(OVERVIEW_MESSAGES);
  const { hasKey, firstRequest, hasBalance } = steps;
  return (
    <Card title={messages.start}>
      <ol className="flex flex-col divide-y divide-line">
        <Step isDone={hasKey} title={messages.keyStep} about={messages.keyAbout}>
          <LinkButton to="/keys" search={{ create: true }} variant="action">
            {messages.keyAction}
          </LinkButton>
        </Step>
        <Step
          isDone={firstRequest !== null}
          title={messages.requestStep}
          about={messages.requestAbout}
          result={
            firstRequest === null ? null : (
              <Link
                to="/usage"
                search={{ tab: "requests", request: firstRequest.requestId }}
                className="text-good underline underline-offset-2"
              >
                {messages.requestDone}
              </Link>
            )
          }
        >
          {hasKey ? (
            <span role="status" className="flex items-center gap-2 text-muted">
              <LoaderCircle className="size-4 animate-spin" aria-hidden />
              {messages.requestWaiting}
            </span>
          ) : null}
          <LinkButton to="/keys">{messages.requestAction}</LinkButton>
        </Step>
        <Step isDone={hasBalance} title={messages.topUpStep} about={messages.topUpAbout}>
          <LinkButton to="/billing" variant={hasKey && firstRequest !== null ? "action" : "plain"}>
            {messages.topUp}
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
  /** The link of a finished step. */
  readonly result?: ReactNode;
  /** The text of an open step. */
  readonly children: ReactNode;
};

function Step({ isDone, title, about, result, children }: StepProps) {
  const messages = useMessages(OVERVIEW_MESSAGES);
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
            {title} <span className="sr-only">({isDone ? messages.done : messages.notDone})</span>
          </p>
          {isDone ? (result ?? null) : <p className="text-muted">{about}</p>}
        </div>
      </div>
      {isDone ? null : <div className="flex flex-wrap items-center gap-3">{children}</div>}
    </li>
  );
}
