import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Member } from "#gen/saldo/identity/v1/member_pb.ts";
import { BudgetPeriod } from "#gen/saldo/keys/v1/key_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { MEMBERS_MESSAGES } from "./members-messages.ts";

/** What the keys of a member may cost, and what they have cost in the present period. */
export function MemberBudget({ member: { budget } }: { readonly member: Pick<Member, "budget"> }) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const formats = useFormats();
  if (budget?.state === undefined) return <span className="text-muted">{messages.noBudget}</span>;
  const { spentIdr, heldIdr, leftIdr, resetsAt, timeZone } = budget.state;
  const periods: Readonly<Record<number, string>> = {
    [BudgetPeriod.DAY]: messages.perDay,
    [BudgetPeriod.MONTH]: messages.perMonth,
    [BudgetPeriod.TOTAL]: messages.inTotal,
  };
  const isHeld = Number(heldIdr) > 0;
  return (
    <span className="flex flex-col">
      <span className="digits whitespace-nowrap">
        {formats.rupiah(budget.budgetIdr)}
        {periods[budget.budgetPeriod]}
      </span>
      <span className="text-xs text-muted">
        {messages.spent} {formats.headlineCost(spentIdr)}
        {isHeld ? ` · ${messages.held} ${formats.rupiah(heldIdr)}` : ""} · {messages.left} {formats.rupiah(leftIdr)}
      </span>
      {resetsAt === undefined ? null : (
        <span className="text-xs text-muted">
          {messages.beginsAgain} {formats.dateIn(timestampDate(resetsAt), timeZone)}
        </span>
      )}
    </span>
  );
}
