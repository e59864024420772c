// The changes of members, each in a dialog: invite, change a role, remove, leave. What the server refuses is shown in its words.

import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
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

type Closing = { readonly onClose: () => void };
type OfMember = Closing & { readonly member: Member };

/** Invites a person by mail. */
export function InviteDialog({ onClose }: Closing) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<AccountRole>(AccountRole.DEVELOPER);
  const [isTried, setTried] = useState(false);
  const isWrong = !EMAIL.test(email.trim());
  const read = () => {
    setTried(true);
    return isWrong ? null : { email: email.trim(), role };
  };
  return (
    <CallDialog
      method={MembersService.method.inviteMember}
      request={read}
      title={messages.invite}
      about={messages.inviteAbout}
      submit={messages.sendInvite}
      done={messages.invited}
      failed={messages.notInvited}
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
    </CallDialog>
  );
}

/** Gives a member another role. */
export function RoleDialog({ member: { personId, email, role: now }, onClose }: OfMember) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const [role, setRole] = useState(now);
  return (
    <CallDialog
      method={MembersService.method.changeRole}
      request={() => ({ personId, role })}
      title={messages.changeRole}
      about={email}
      submit={messages.save}
      done={messages.roleChanged}
      onClose={onClose}
    >
      <RoleField value={role} onChange={setRole} />
      <p className="text-muted">{messages.roleNote}</p>
    </CallDialog>
  );
}

/** Removes a member, whose keys are revoked. */
export function RemoveDialog({ member: { personId, email, workingKeys }, onClose }: OfMember) {
  const messages = useMessages(MEMBERS_MESSAGES);
  return (
    <CallDialog
      method={MembersService.method.removeMember}
      request={() => ({ personId })}
      title={messages.remove}
      about={email}
      done={messages.removed}
      isDanger
      onClose={onClose}
    >
      <p>
        {messages.removeAbout} <strong>{workingKeys}</strong>
      </p>
    </CallDialog>
  );
}

/** Ends the person's own membership. */
export function LeaveDialog({ ownAccountId, onClose }: Closing & { readonly ownAccountId: string }) {
  const messages = useMessages(MEMBERS_MESSAGES);
  return (
    <CallDialog
      method={MembersService.method.leaveAccount}
      request={() => ({})}
      after={() => reloadForAccount(ownAccountId)}
      title={messages.leave}
      isDanger
      onClose={onClose}
    >
      <p>{messages.leaveAbout}</p>
    </CallDialog>
  );
}

type CallProps<Input extends DescMessage, Output extends DescMessage> = Pick<
  TaskProps,
  "title" | "about" | "isDanger" | "onClose" | "children"
> &
  Partial<Pick<TaskProps, "submit" | "done" | "failed">> & {
    readonly method: DescMethodUnary<Input, Output>;
    /** The request of the fields. Null: they are wrong, and show why. */
    readonly request: () => MessageInitShape<Input> | null;
    readonly after?: () => void;
  };

/** A task that is one call. Its title is its button's text and its notice, where these have none. */
function CallDialog<Input extends DescMessage, Output extends DescMessage>(props: CallProps<Input, Output>) {
  const { method, request, after, title, submit = title, done = title, failed, ...dialog } = props;
  const messages = useMessages(MEMBERS_MESSAGES);
  const { mutateAsync, isPending } = useMutation(method);
  const run = async () => {
    const input = request();
    if (input === null) return false;
    await mutateAsync(input);
    after?.();
    return true;
  };
  const texts = { title, submit, done, failed: failed ?? messages.failed };
  return <TaskDialog {...dialog} {...texts} isPending={isPending} run={run} />;
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

/** A change of a member in a dialog. It closes when the change is done. */
export function TaskDialog(props: TaskProps) {
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
