// A request that failed: the reason in words, and a remedy.

import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { CircleAlert, Wallet } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ErrorFacts } from "#gen/saldo/errors/v1/errors_pb.ts";
import { factsOf } from "../../api/transport.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useMay } from "../../layouts/role.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { BrokenOff } from "./piece.ts";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";

type FailureProps = {
  readonly error: unknown;
  /** Whether a part of the answer was received before the error. */
  readonly isPartial: boolean;
  /** Sends it again; null where another question was sent since. */
  readonly retry: (() => void) | null;
};

/** The card of an error, chosen by the code of its facts. */
export function RequestFailure({ error, isPartial, retry }: FailureProps) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const facts = factsOf(error);
  const brokenOff = error instanceof BrokenOff ? error : null;
  const isBusy = brokenOff?.isRefused === false || facts?.code === "upstream_busy";
  const title = brokenOff?.isRefused === true ? "invalid" : titleOf(facts?.code);
  const again = retry === null ? null : <Button onClick={retry}>{messages.retry}</Button>;
  if (facts?.code === "insufficient_balance") return <TooLittle facts={facts} again={again} />;
  if (facts?.code === "key_budget_exceeded" || facts?.code === "member_budget_exceeded")
    return <BudgetSpent facts={facts} again={again} />;
  if (facts?.code === "rate_limit" || facts?.code === "token_limit_exceeded")
    return <TooMany facts={facts} retry={retry} />;
  if (facts?.code === "permission_denied") return <NotAllowed facts={facts} />;
  return (
    <FailureCard title={isBusy ? messages.busy : messages[title]} facts={facts} actions={again}>
      {isBusy ? <p>{isPartial ? messages.busyAbout : messages.busyFree}</p> : null}
      {brokenOff?.isRefused === true ? <p>{brokenOff.message}</p> : null}
      {(facts?.details ?? []).map(({ field, message }) => (
        <p key={`${field} ${message}`}>
          {field === "" ? null : <code className="font-mono">{field}: </code>}
          {message}
        </p>
      ))}
    </FailureCard>
  );
}

function titleOf(code: string | undefined): "gone" | "invalid" | "failed" {
  if (code === "model_not_found") return "gone";
  return code === "validation_error" ? "invalid" : "failed";
}

function TooLittle({ facts, again }: { readonly facts: ErrorFacts; readonly again: ReactNode }) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const formats = useFormats();
  return (
    <FailureCard
      title={messages.insufficient}
      facts={facts}
      actions={
        <>
          <LinkButton to="/billing" variant="action" icon={<Wallet aria-hidden />}>
            {messages.topUp}
          </LinkButton>
          {again}
        </>
      }
    >
      <p className="digits">
        {messages.available} <strong>{formats.exactRupiah(facts.availableIdr)}</strong> · {messages.needed}{" "}
        <strong>{formats.exactRupiah(facts.neededIdr)}</strong>
      </p>
      {facts.owedIdr === "" ? null : (
        <p className="digits">
          {messages.owed} <strong>{formats.exactRupiah(facts.owedIdr)}</strong>
        </p>
      )}
      <p>{messages.insufficientHint}</p>
    </FailureCard>
  );
}

/** The budget of the member, or that of the playground's key. */
function BudgetSpent({ facts, again }: { readonly facts: ErrorFacts; readonly again: ReactNode }) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const formats = useFormats();
  const { code, budgetLeftIdr, neededIdr, budgetResetsAt } = facts;
  const isMembers = code === "member_budget_exceeded";
  return (
    <FailureCard title={isMembers ? messages.memberBudget : messages.keyBudget} facts={facts} actions={again}>
      <p className="digits">
        {messages.left} <strong>{formats.exactRupiah(budgetLeftIdr)}</strong> · {messages.needed}{" "}
        <strong>{formats.exactRupiah(neededIdr)}</strong>
      </p>
      {budgetResetsAt === undefined ? null : (
        <p>
          {messages.beginsAgain} <strong>{formats.time(timestampDate(budgetResetsAt))} WIB</strong>
        </p>
      )}
      <p>{messages.budgetHint}</p>
    </FailureCard>
  );
}

/** The role in the account may not ask models, or the operator has frozen the account. */
function NotAllowed({ facts }: { readonly facts: ErrorFacts }) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const mayAsk = useMay("askModels");
  const queries = useQueryClient();
  // The role may have changed just now. Then the frame shows that in place of the page.
  useEffect(() => {
    const queryKey = createConnectQueryKey({ schema: AccountsService.method.getMe, cardinality: "finite" });
    void queries.invalidateQueries({ queryKey });
  }, [queries]);
  return (
    <FailureCard title={messages.notAllowed} facts={facts} actions={null}>
      <p>{mayAsk ? messages.frozen : messages.roleMayNot}</p>
    </FailureCard>
  );
}

function TooMany({ facts, retry }: { readonly facts: ErrorFacts; readonly retry: (() => void) | null }) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const formats = useFormats();
  const left = useSecondsLeft(facts.retryAfterSeconds);
  // More tokens than the key has in a minute: waiting does not help.
  const isTooLarge = facts.code === "token_limit_exceeded" && facts.retryAfterSeconds === 0;
  return (
    <FailureCard
      title={facts.code === "rate_limit" ? messages.rateLimit : messages.tokenLimit}
      facts={facts}
      actions={
        retry === null || isTooLarge ? null : (
          <Button onClick={retry} disabled={left > 0}>
            {messages.retry}
          </Button>
        )
      }
    >
      {isTooLarge ? null : (
        <p className="digits">
          {left > 0 ? `${messages.wait} ${formats.count(left)} ${messages.seconds}.` : messages.waitOver}
        </p>
      )}
      {facts.code === "rate_limit" ? null : <p>{messages.tokenLimitHint}</p>}
    </FailureCard>
  );
}

function useSecondsLeft(seconds: number): number {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    if (left <= 0) return undefined;
    const timer = window.setTimeout(() => setLeft(left - 1), 1_000);
    return () => window.clearTimeout(timer);
  }, [left]);
  return left;
}

function FailureCard({
  title,
  facts,
  actions,
  children,
}: {
  readonly title: string;
  readonly facts: ErrorFacts | null;
  readonly actions: ReactNode;
  readonly children?: ReactNode;
}) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  return (
    <div role="alert" className="mt-2 flex flex-col items-start gap-2 rounded-lg bg-bad-soft p-4 text-bad">
      <p className="flex items-start gap-2 font-medium">
        <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        {title}
      </p>
      {children}
      {facts === null || facts.requestId === "" ? null : (
        <p className="text-xs">
          {messages.requestId}: <code className="font-mono wrap-anywhere">{facts.requestId}</code>
        </p>
      )}
      <div className="flex flex-wrap gap-2">{actions}</div>
    </div>
  );
}
