import { useMutation, useQuery } from "@connectrpc/connect-query";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Pencil, UserMinus, UserPlus, Wallet } from "lucide-react";
import { type FormEvent, useState } from "react";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import type { Invite, Member } from "#gen/saldo/identity/v1/member_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { Badge } from "../../components/badge.tsx";
import { Button, IconButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Page } from "../../components/page.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { WrappedName } from "../../components/wrapped-name.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useActingFor, useMay } from "../../layouts/role.ts";
import { ROLE_MESSAGES, roleName } from "../../layouts/role-messages.ts";
import { ActivityCard } from "./activity-card.tsx";
import { BudgetDialog } from "./budget-dialog.tsx";
import { MemberBudget } from "./member-budget.tsx";
import { InviteDialog, LeaveDialog, RemoveDialog, RoleDialog } from "./member-dialogs.tsx";
import { MEMBERS_MESSAGES } from "./members-messages.ts";
import { useRefreshMembers } from "./refresh-members.ts";

type Task =
  | { readonly what: "role" | "budget" | "remove"; readonly member: Member }
  | { readonly what: "invite" | "leave" };

/** The members of the account, its open invitations and its activity log. */
export function MembersPage() {
  const messages = useMessages(MEMBERS_MESSAGES);
  const [task, setTask] = useState<Task | null>(null);
  const mayChange = useMay("change");
  const me = useQuery(AccountsService.method.getMe, {}).data;
  const close = () => setTask(null);
  return (
    <Page
      title={messages.title}
      about={messages.about}
      actions={
        <>
          {me?.account?.isOwn === false ? (
            <Button onClick={() => setTask({ what: "leave" })}>{messages.leave}</Button>
          ) : null}
          {mayChange ? (
            <Button variant="action" icon={<UserPlus aria-hidden />} onClick={() => setTask({ what: "invite" })}>
              {messages.invite}
            </Button>
          ) : null}
        </>
      }
    >
      <Members me={me?.person?.id ?? ""} onTask={setTask} />
      {mayChange ? <AccountName /> : null}
      <ActivityCard />
      {task?.what === "invite" ? <InviteDialog onClose={close} /> : null}
      {task?.what === "role" ? <RoleDialog member={task.member} onClose={close} /> : null}
      {task?.what === "budget" ? <BudgetDialog member={task.member} onClose={close} /> : null}
      {task?.what === "remove" ? <RemoveDialog member={task.member} onClose={close} /> : null}
      {task?.what === "leave" ? <LeaveDialog ownAccountId={me?.person?.accountId ?? ""} onClose={close} /> : null}
    </Page>
  );
}

type MembersProps = { readonly me: string; readonly onTask: (task: Task) => void };

function Members({ me, onTask }: MembersProps) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const { data, error, refetch } = useQuery(MembersService.method.listMembers, {});
  const columns = useMemberColumns(me, onTask);
  const inviteColumns = useInviteColumns();
  if (data === undefined) {
    return (
      <Card title={messages.list} flush>
        {error === null ? <SkeletonLines /> : <Failed error={error} retry={() => void refetch()} />}
      </Card>
    );
  }
  return (
    <>
      <Card title={messages.list} flush>
        <Table label={messages.list} columns={columns} rows={data.members} keyOf={({ personId }) => personId} />
      </Card>
      {data.invites.length === 0 ? null : (
        <Card title={messages.invites} flush>
          <Table label={messages.invites} columns={inviteColumns} rows={data.invites} keyOf={({ id }) => id} />
        </Card>
      )}
    </>
  );
}

function useMemberColumns(me: string, onTask: (task: Task) => void): readonly Column<Member>[] {
  const messages = useMessages(MEMBERS_MESSAGES);
  const roles = useMessages(ROLE_MESSAGES);
  const formats = useFormats();
  const mayChange = useMay("change");
  const isOwner = useActingFor()?.role === AccountRole.OWNER;
  const mayLimit = ({ role }: Member): boolean => mayChange && (isOwner || role !== AccountRole.OWNER);
  const mayManage = (member: Member): boolean => mayLimit(member) && !member.isHolder;
  return [
    {
      key: "person",
      head: messages.person,
      cell: (member) => (
        <>
          <span className="font-medium">
            <WrappedName name={member.email} />
          </span>
          <span className="mt-1 flex flex-wrap gap-1.5">
            {member.personId === me ? <Badge sign={false}>{messages.you}</Badge> : null}
            {member.isHolder ? <Badge sign={false}>{messages.holder}</Badge> : null}
          </span>
          <span className="mt-1 block text-sm text-muted md:hidden">{roles[roleName(member.role)]}</span>
          {member.budget === undefined ? null : (
            <span className="mt-1 block text-sm md:hidden">
              <MemberBudget member={member} />
            </span>
          )}
        </>
      ),
    },
    { key: "role", head: messages.role, wide: true, cell: ({ role }) => roles[roleName(role)] },
    {
      key: "keys",
      head: messages.keys,
      right: true,
      wide: true,
      cell: ({ workingKeys }) => formats.count(workingKeys),
    },
    { key: "budget", head: messages.budget, wide: true, cell: (member) => <MemberBudget member={member} /> },
    {
      key: "since",
      head: messages.since,
      wide: true,
      cell: ({ joinedAt }) => (joinedAt === undefined ? "" : formats.date(timestampDate(joinedAt))),
    },
    {
      key: "actions",
      head: <span className="sr-only">{messages.actions}</span>,
      acts: true,
      cell: (member) =>
        mayLimit(member) ? (
          <span className="flex justify-end gap-1.5">
            <IconButton
              label={`${messages.setBudget}: ${member.email}`}
              onClick={() => onTask({ what: "budget", member })}
            >
              <Wallet aria-hidden />
            </IconButton>
            {mayManage(member) ? (
              <>
                <IconButton
                  label={`${messages.changeRole}: ${member.email}`}
                  onClick={() => onTask({ what: "role", member })}
                >
                  <Pencil aria-hidden />
                </IconButton>
                <IconButton
                  label={`${messages.remove}: ${member.email}`}
                  onClick={() => onTask({ what: "remove", member })}
                >
                  <UserMinus aria-hidden />
                </IconButton>
              </>
            ) : null}
          </span>
        ) : null,
    },
  ];
}

function useInviteColumns(): readonly Column<Invite>[] {
  const messages = useMessages(MEMBERS_MESSAGES);
  const roles = useMessages(ROLE_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const refresh = useRefreshMembers();
  const mayChange = useMay("change");
  const { mutateAsync } = useMutation(MembersService.method.revokeInvite);
  const revoke = async (inviteId: string) => {
    try {
      await mutateAsync({ inviteId });
      await refresh();
      notify(messages.inviteRevoked);
    } catch {
      notify(messages.failed);
    }
  };
  return [
    {
      key: "email",
      head: messages.email,
      cell: ({ email, role }) => (
        <>
          <span className="wrap-anywhere">{email}</span>
          <span className="mt-1 block text-sm text-muted md:hidden">{roles[roleName(role)]}</span>
        </>
      ),
    },
    { key: "role", head: messages.role, wide: true, cell: ({ role }) => roles[roleName(role)] },
    {
      key: "expires",
      head: messages.expires,
      wide: true,
      cell: ({ expiresAt }) => (expiresAt === undefined ? "" : formats.date(timestampDate(expiresAt))),
    },
    {
      key: "actions",
      head: <span className="sr-only">{messages.actions}</span>,
      acts: true,
      cell: ({ id, email }) =>
        mayChange ? (
          <IconButton label={`${messages.revokeInvite}: ${email}`} onClick={() => void revoke(id)}>
            <UserMinus aria-hidden />
          </IconButton>
        ) : null,
    },
  ];
}

function AccountName() {
  const messages = useMessages(MEMBERS_MESSAGES);
  const notify = useNotify();
  const refresh = useRefreshMembers();
  const current = useActingFor();
  const [name, setName] = useState("");
  const [isWrong, setWrong] = useState(false);
  const { mutateAsync, isPending } = useMutation(MembersService.method.renameAccount);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const { accountName } = await mutateAsync({ name: name.trim() });
      setWrong(false);
      await refresh();
      notify(messages.nameSaved, accountName);
    } catch {
      setWrong(true);
    }
  };
  return (
    <Card title={messages.name}>
      <form onSubmit={(event) => void save(event)} noValidate className="flex flex-wrap items-end gap-3">
        <TextField
          className="grow"
          label={messages.name}
          hint={messages.nameHint}
          problem={isWrong ? messages.nameWrong : undefined}
          maxLength={60}
          placeholder={current?.accountName}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <Button type="submit" busy={isPending}>
          {messages.saveName}
        </Button>
      </form>
    </Card>
  );
}
