// Whether and how much an account is served.

import { useState } from "react";
import type { AccountLimits, AccountSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { UNKNOWN, useFormats } from "../../../language/format.ts";
import { useWords } from "../../../language/language.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Button } from "../../../parts/button.tsx";
import { Card } from "../../../parts/card.tsx";
import { TextField } from "../../../parts/field.tsx";
import { useNotify } from "../../../parts/notices.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useWhen } from "../parts/amounts.ts";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { OrderDialog, ReasonField, useOrder } from "../parts/order.tsx";
import { ACCOUNTS_WORDS } from "./accounts-words.ts";

const MOST_REQUESTS = 1_000_000;

type Order = "freeze" | "unfreeze" | "limit" | "recount";

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
  const [order, setOrder] = useState<Order | null>(null);
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
      {order === null ? null : (
        <AccessDialog order={order} accountId={account.id} most={most ?? 0} onClose={() => setOrder(null)} />
      )}
    </Card>
  );
}

type AccessDialogProps = {
  readonly order: Order;
  readonly accountId: string;
  readonly most: number;
  readonly onClose: () => void;
};

const TEXTS = {
  freeze: { title: "freezeTitle", about: "freezeAbout", confirm: "confirmFreeze" },
  unfreeze: { title: "unfreezeTitle", about: "unfreezeAbout", confirm: "confirmUnfreeze" },
  limit: { title: "limitTitle", about: "limitAbout", confirm: "confirmLimit" },
  recount: { title: "recountTitle", about: "recountAbout", confirm: "confirmRecount" },
} as const satisfies Record<Order, Record<string, keyof typeof ACCOUNTS_WORDS.id>>;

function AccessDialog({ order, accountId, most, onClose }: AccessDialogProps) {
  const words = useWords(ACCOUNTS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  const notify = useNotify();
  const freeze = useOrder(OperatorService.method.freezeAccount);
  const unfreeze = useOrder(OperatorService.method.unfreezeAccount);
  const limit = useOrder(OperatorService.method.setAccountLimit);
  const recount = useOrder(OperatorService.method.recountAccount);
  const [reason, setReason] = useState("");
  const [atOnce, setAtOnce] = useState(String(most));
  const send = async () => {
    if (order === "freeze") await freeze.mutateAsync({ accountId, reason });
    else if (order === "unfreeze") await unfreeze.mutateAsync({ accountId, reason });
    else if (order === "limit") await limit.mutateAsync({ accountId, maxOpenRequests: Number(atOnce), reason });
    else {
      const { was, limits } = await recount.mutateAsync({ accountId, reason });
      notify(words.recounted, `${formats.count(was)} → ${formats.count(limits?.openRequests ?? 0)}`);
      return;
    }
    notify(shared.done);
  };
  const texts = TEXTS[order];
  return (
    <OrderDialog
      open
      onClose={onClose}
      title={words[texts.title]}
      about={words[texts.about]}
      confirm={words[texts.confirm]}
      isDanger={order === "freeze"}
      onOrder={send}
    >
      {order === "limit" ? (
        <TextField
          type="number"
          label={words.limitField}
          required
          min={0}
          max={MOST_REQUESTS}
          step={1}
          value={atOnce}
          onChange={({ target }) => setAtOnce(target.value)}
        />
      ) : null}
      <ReasonField required={order === "freeze"} value={reason} onChange={setReason} />
    </OrderDialog>
  );
}
