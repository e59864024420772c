// Whether an account is served, and how many requests at once.

import { useState } from "react";
import type { AccountLimits, AccountSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts } from "../../../components/facts.tsx";
import { later } from "../components/later.tsx";
import type { AccessCommand } from "./access-dialog.tsx";
import { ACCOUNTS_MESSAGES } from "./accounts-messages.ts";

const AccessDialog = later(() => import("./access-dialog.tsx"), "AccessDialog");
const SignOutDialog = later(() => import("./sign-out-dialog.tsx"), "SignOutDialog");

/** Whether the account is frozen, its concurrency limit, and the commands that change them. */
export function AccountAccess({
  account,
  limits,
}: {
  readonly account: AccountSummary;
  readonly limits: AccountLimits | undefined;
}) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  const [command, setCommand] = useState<AccessCommand | "signOut" | null>(null);
  const isFrozen = account.frozenAt !== undefined;
  const most = limits?.maxOpenRequests;
  const close = () => setCommand(null);
  return (
    <Card
      title={messages.access}
      aside={isFrozen ? <Badge tone="bad">{messages.frozen}</Badge> : <Badge tone="good">{messages.active}</Badge>}
    >
      <Facts>
        {isFrozen ? <Fact name={messages.frozenSince}>{when(account.frozenAt)}</Fact> : null}
        <Fact name={messages.limit}>
          {most === undefined ? UNKNOWN : most === 0 ? messages.limitOpen : formats.count(most)}
        </Fact>
        <Fact name={messages.running}>{limits === undefined ? UNKNOWN : formats.count(limits.openRequests)}</Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap gap-2">
        {isFrozen ? (
          <Button onClick={() => setCommand("unfreeze")}>{messages.unfreeze}</Button>
        ) : (
          <Button variant="danger" onClick={() => setCommand("freeze")}>
            {messages.freeze}
          </Button>
        )}
        <Button onClick={() => setCommand("limit")}>{messages.setLimit}</Button>
        <Button onClick={() => setCommand("recount")}>{messages.recount}</Button>
        <Button onClick={() => setCommand("signOut")}>{messages.signOut}</Button>
      </div>
      <AccessDialog
        given={
          command === null || command === "signOut"
            ? null
            : { command, accountId: account.id, most: most ?? 0, onClose: close }
        }
      />
      <SignOutDialog given={command === "signOut" ? { email: account.email, onClose: close } : null} />
    </Card>
  );
}
