// Freezing and unfreezing an account, and its limit of concurrent requests.

import { useState } from "react";
import { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { TextField } from "../../../components/field.tsx";
import { useNotify } from "../../../components/notices.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { CommandDialog, commandTexts, ReasonField, useCommand } from "../components/command.tsx";
import { ACCOUNTS_MESSAGES } from "./accounts-messages.ts";

const MOST_REQUESTS = 1_000_000;

/** The change of an account's access. */
export type AccessCommand = "freeze" | "unfreeze" | "limit" | "recount";

type AccessDialogProps = {
  readonly command: AccessCommand;
  readonly accountId: string;
  readonly most: number;
  readonly onClose: () => void;
};

/** The dialog of such a change. */
export function AccessDialog({ command, accountId, most, onClose }: AccessDialogProps) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const freeze = useCommand(AccountService.method.freezeAccount);
  const unfreeze = useCommand(AccountService.method.unfreezeAccount);
  const limit = useCommand(AccountService.method.setAccountLimit);
  const recount = useCommand(AccountService.method.recountAccount);
  const [reason, setReason] = useState("");
  const [atOnce, setAtOnce] = useState(String(most));
  const send = async () => {
    if (command === "freeze") await freeze.mutateAsync({ accountId, reason });
    else if (command === "unfreeze") await unfreeze.mutateAsync({ accountId, reason });
    else if (command === "limit") await limit.mutateAsync({ accountId, maxOpenRequests: Number(atOnce), reason });
    else {
      const { was, limits } = await recount.mutateAsync({ accountId, reason });
      notify(messages.recounted, `${formats.count(was)} → ${formats.count(limits?.openRequests ?? 0)}`);
      return;
    }
    notify(shared.done);
  };
  return (
    <CommandDialog
      {...commandTexts(messages, command)}
      onClose={onClose}
      isDanger={command === "freeze"}
      onCommand={send}
    >
      {command === "limit" ? (
        <TextField
          type="number"
          label={messages.limitField}
          required
          min={0}
          max={MOST_REQUESTS}
          step={1}
          value={atOnce}
          onChange={({ target }) => setAtOnce(target.value)}
        />
      ) : null}
      <ReasonField required={command === "freeze"} value={reason} onChange={setReason} />
    </CommandDialog>
  );
}
