// Manual credits and adjustments of an account's balance.

import { useState } from "react";
import type { AccountSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { later } from "../components/later.tsx";
import { useCommandKey } from "../components/command-key.tsx";
import { ACCOUNTS_MESSAGES } from "./accounts-messages.ts";
import type { MoneyCommand } from "./money-dialog.tsx";

const MoneyDialog = later(() => import("./money-dialog.tsx"), "MoneyDialog");
const CreditNoteDialog = later(() => import("./credit-note.tsx"), "CreditNoteDialog");

/** The commands that move money. */
export function AccountMoney({ account }: { readonly account: AccountSummary }) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const [kind, setKind] = useState<MoneyCommand | "note" | null>(null);
  const name = useCommandKey();
  const close = () => setKind(null);
  return (
    <Card title={messages.money}>
      <div className="flex flex-wrap gap-2">
        <Button variant="action" onClick={() => setKind("credit")}>
          {messages.credit}
        </Button>
        <Button onClick={() => setKind("adjust")}>{messages.adjust}</Button>
        <Button onClick={() => setKind("note")}>{messages.note}</Button>
      </div>
      <MoneyDialog given={kind === null || kind === "note" ? null : { kind, account, name, onClose: close }} />
      <CreditNoteDialog given={kind === "note" ? { onClose: close } : null} />
    </Card>
  );
}
