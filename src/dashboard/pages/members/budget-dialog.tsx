import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import type { Member } from "#gen/saldo/identity/v1/member_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { BudgetPeriod } from "#gen/saldo/keys/v1/key_pb.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { SelectField } from "../../components/field.tsx";
import { useMessages } from "../../i18n/language.tsx";
import { type AmountRules, amountOf, asTyped, RUPIAH } from "../../i18n/read-amount.ts";
import { TaskDialog } from "./member-dialogs.tsx";
import { MEMBERS_MESSAGES } from "./members-messages.ts";

const PERIODS = [
  [BudgetPeriod.DAY, "day"],
  [BudgetPeriod.MONTH, "month"],
  [BudgetPeriod.TOTAL, "total"],
] as const;
/** A budget of nothing stops a member who is to go on later. */
const BUDGET: AmountRules = { ...RUPIAH, zero: true };

/** Sets what all keys of a member may cost together. */
export function BudgetDialog({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const { email, personId, budget } = member;
  const [amount, setAmount] = useState(budget === undefined ? "" : asTyped(budget.budgetIdr));
  const [period, setPeriod] = useState(budget?.budgetPeriod ?? BudgetPeriod.MONTH);
  const [isTried, setTried] = useState(false);
  const { mutateAsync, isPending } = useMutation(MembersService.method.setMemberBudget);
  return (
    <TaskDialog
      title={messages.setBudget}
      about={email}
      submit={messages.save}
      done={messages.budgetSet}
      failed={messages.failed}
      isPending={isPending}
      run={async () => {
        setTried(true);
        const budgetIdr = amount.trim() === "" ? "" : amountOf(amount, BUDGET);
        if (budgetIdr === null) return false;
        await mutateAsync({
          personId,
          budgetIdr,
          budgetPeriod: budgetIdr === "" ? BudgetPeriod.UNSPECIFIED : period,
        });
        return true;
      }}
      onClose={onClose}
    >
      <AmountField
        label={messages.budgetAmount}
        hint={messages.budgetHint}
        value={amount}
        rules={BUDGET}
        onChange={setAmount}
        isTried={isTried}
      />
      <SelectField
        label={messages.period}
        value={String(period)}
        onChange={({ target }) => setPeriod(Number(target.value) as BudgetPeriod)}
      >
        {PERIODS.map(([value, name]) => (
          <option key={name} value={value}>
            {messages[name]}
          </option>
        ))}
      </SelectField>
      <p className="text-muted">{messages.budgetNote}</p>
    </TaskDialog>
  );
}
