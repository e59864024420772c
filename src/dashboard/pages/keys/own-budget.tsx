import { Card } from "../../components/card.tsx";
import { useMessages } from "../../i18n/language.tsx";
import { MemberBudget } from "../members/member-budget.tsx";
import { useAllKeys } from "./all-keys.ts";
import { KEYS_MESSAGES } from "./keys-messages.ts";

/** The budget that the person has in the account, and what is left of it. Nothing where there is none. */
export function OwnBudget() {
  const messages = useMessages(KEYS_MESSAGES);
  const budget = useAllKeys().data?.ownBudget;
  if (budget === undefined) return null;
  return (
    <Card title={messages.ownBudget}>
      <MemberBudget member={{ budget }} />
      <p className="mt-2 text-muted">{messages.ownBudgetAbout}</p>
    </Card>
  );
}
