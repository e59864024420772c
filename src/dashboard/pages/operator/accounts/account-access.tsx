// Whether and how much an account is served.

import { useState } from "react";
import type { AccountLimits, AccountSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { UNKNOWN, useFormats } from "../../../language/format.ts";
import { useWords } from "../../../language/language.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Button } from "../../../parts/button.tsx";
import { Card } from "../../../parts/card.tsx";
import { useWhen } from "../parts/amounts.ts";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { later } from "../parts/later.tsx";
import type { AccessOrder } from "./access-dialog.tsx";
import { ACCOUNTS_WORDS } from "./accounts-words.ts";

const AccessDialog = later(() => import("./access-dialog.tsx"), "AccessDialog");

/** Frozen or not, how many requests at once, and the orders that change it. */
export function AccountAccess({
  account,
  limits,
}: {
  readonly account: AccountSummary;
  readonly limits: AccountLimits | undefined;
}) {
  const words = useWords(ACCOUNTS_WORDS);
  const formats = useFormats();
  const when = useWhen();
  const [order, setOrder] = useState<AccessOrder | null>(null);
  const isFrozen = account.frozenAt !== undefined;
  const most = limits?.maxOpenRequests;
  return (
    <Card
      title={words.access}
      aside={isFrozen ? <Badge tone="bad">{words.frozen}</Badge> : <Badge tone="good">{words.active}</Badge>}
    >
      <Facts>
        {isFrozen ? <Fact name={words.frozenSince}>{when(account.frozenAt)}</Fact> : null}
        <Fact name={words.limit}>
          {most === undefined ? UNKNOWN : most === 0 ? words.limitOpen : formats.count(most)}
        </Fact>
        <Fact name={words.running}>{limits === undefined ? UNKNOWN : formats.count(limits.openRequests)}</Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap gap-2">
        {isFrozen ? (
          <Button onClick={() => setOrder("unfreeze")}>{words.unfreeze}</Button>
        ) : (
          <Button look="danger" onClick={() => setOrder("freeze")}>
            {words.freeze}
          </Button>
        )}
        <Button onClick={() => setOrder("limit")}>{words.setLimit}</Button>
        <Button onClick={() => setOrder("recount")}>{words.recount}</Button>
      </div>
      <AccessDialog
        given={order === null ? null : { order, accountId: account.id, most: most ?? 0, onClose: () => setOrder(null) }}
      />
    </Card>
  );
}
