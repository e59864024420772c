// The changes of members, each in a dialog: invite, change a role, remove, leave. What the server refuses is shown in its words.

import { useMutation } from "@connectrpc/connect-query";
import { ConnectError } from "@connectrpc/connect";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Member } from "#gen/saldo/identity/v1/member_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { reloadForAccount } from "../../api/acting-for.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { useMessages } from "../../i18n/language.tsx";
import { MEMBERS_MESSAGES } from "./members-messages.ts";
import { useRefreshMembers } from "./refresh-members.ts";
import { RoleField } from "./role-field.tsx";

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/;

/** Invites a person by mail. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<AccountRole>(AccountRole.DEVELOPER);
  const [isTried, setTried] = useState(false);
  const { mutateAsync, isPending } = useMutation(MembersService.method.inviteMember);
  const isWrong = !EMAIL.test(email.trim());
  return (
    <TaskDialog
      title={messages.invite}
      about={messages.inviteAbout}
      submit={messages.sendInvite}
      done={messages.invited}
      failed={messages.notInvited}
      isPending={isPending}
      run={async () => {
        setTried(true);
        if (isWrong) return false;
        await mutateAsync({ email: email.trim(), role });
        return true;
      }}
      onClose={onClose}
    >
      <TextField
        label={messages.email}
        type="email"
        autoComplete="off"
        value={email}
        onChange={({ target }) => setEmail(target.value)}
        problem={isTried && isWrong ? messages.emailWrong : undefined}
        // The dialog has no other first field.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
      />
      <RoleField value={role} onChange={setRole} />
    </TaskDialog>
  );
}

/** Gives a member another role. */
export function RoleDialog({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const [role, setRole] = useState(member.role);
  const { mutateAsync, isPending } = useMutation(MembersService.method.changeRole);
  return (
    <TaskDialog
      title={messages.changeRole}
      about={member.email}
      submit={messages.save}
      done={messages.roleChanged}
      failed={messages.failed}
      isPending={isPending}
      run={async () => {
        await mutateAsync({ personId: member.personId, role });
        return true;
      }}
      onClose={onClose}
    >
      <RoleField value={role} onChange={setRole} />
      <p className="text-muted">{messages.roleNote}</p>
    </TaskDialog>
  );
}

/** Removes a member, whose keys are revoked. */
export function RemoveDialog({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const { mutateAsync, isPending } = useMutation(MembersService.method.removeMember);
  return (
    <TaskDialog
      title={messages.remove}
      about={member.email}
      submit={messages.remove}
      done={messages.removed}
      failed={messages.failed}
      isDanger
      isPending={isPending}
      run={async () => {
        await mutateAsync({ personId: member.personId });
        return true;
      }}
      onClose={onClose}
    >
      <p>
        {messages.removeAbout} <strong>{member.workingKeys}</strong>
      </p>
    </TaskDialog>
  );
}

/** Ends the person's own membership. */
export function LeaveDialog({
  ownAccountId,
  onClose,
}: {
  readonly ownAccountId: string;
  readonly onClose: () => void;
}) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const { mutateAsync, isPending } = useMutation(MembersService.method.leaveAccount);
  return (
    <TaskDialog
      title={messages.leave}
      submit={messages.leave}
      done={messages.leave}
      failed={messages.failed}
      isDanger
      isPending={isPending}
      run={async () => {
        await mutateAsync({});
        reloadForAccount(ownAccountId);
        return true;
      }}
      onClose={onClose}
    >
      <p>{messages.leaveAbout}</p>
    </TaskDialog>
  );
}

type TaskProps = {
  readonly title: string;
  readonly about?: string;
  readonly submit: string;
  readonly done: string;
  readonly failed: string;
  readonly isDanger?: boolean;
  readonly isPending: boolean;
  /** Does it. False: the fields are wrong. */
  readonly run: () => Promise<boolean>;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

function TaskDialog(props: TaskProps) {
  const { title, about, submit, done, failed, isDanger = false, isPending, run, onClose, children } = props;
  const messages = useMessages(MEMBERS_MESSAGES);
  const notify = useNotify();
  const refresh = useRefreshMembers();
  const [problem, setProblem] = useState("");
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setProblem("");
    try {
      if (!(await run())) return;
      await refresh();
      notify(done);
      onClose();
    } catch (error) {
      setProblem(`${failed}: ${ConnectError.from(error).rawMessage}`);
    }
  };
  return (
    <Dialog open onClose={onClose} title={title} {...(about === undefined ? {} : { about })}>
      <form onSubmit={(event) => void send(event)} noValidate className="flex flex-col gap-4">
        {children}
        {problem === "" ? null : (
          <p role="alert" className="text-bad">
            {problem}
          </p>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{messages.cancel}</Button>
          <Button type="submit" variant={isDanger ? "danger" : "action"} busy={isPending}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
