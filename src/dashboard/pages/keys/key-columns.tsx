import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Ban, Pencil } from "lucide-react";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import { unitsOf } from "../../i18n/decimal.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { IconButton } from "../../components/button.tsx";
import type { Column } from "../../components/table.tsx";
import { useMakers } from "../members/members-seen.ts";
import type { KeyTask, SpentByKey } from "./key-task.ts";
import { WrappedName } from "../../components/wrapped-name.tsx";
import { KeyLimitLines } from "./key-limit-lines.tsx";
import { KEYS_MESSAGES } from "./keys-messages.ts";

/** The columns of the list of keys. Revoked keys are dimmed. */
export function useKeyColumns(spent: SpentByKey, onTask: (task: KeyTask) => void): readonly Column<ApiKey>[] {
  const messages = useMessages(KEYS_MESSAGES);
  const formats = useFormats();
  const makers = useMakers();
  const makerOf = ({ personId }: ApiKey): string =>
    personId === "" ? "" : (makers.get(personId) ?? messages.formerMember);
  const date = (at: Timestamp | undefined): string =>
    at === undefined ? messages.never : formats.date(timestampDate(at));
  return [
    {
      key: "name",
      head: messages.name,
      value: ({ name }) => name,
      cell: (key) => (
        <NameCell apiKey={key} spent={formats.cost(spent.get(key.id))} maker={makers.size === 0 ? "" : makerOf(key)} />
      ),
    },
    ...(makers.size === 0
      ? []
      : [
          {
            key: "maker",
            head: messages.madeBy,
            value: makerOf,
            wide: true,
            cell: (key: ApiKey) => (
              <span className="text-muted">
                <WrappedName name={makerOf(key)} />
              </span>
            ),
          },
        ]),
    {
      key: "created",
      head: messages.created,
      value: ({ createdAt }) => millisecondsOf(createdAt),
      wide: true,
      cell: (key) => <Dim apiKey={key}>{date(key.createdAt)}</Dim>,
    },
    {
      key: "used",
      head: messages.lastUsed,
      value: ({ lastUsedAt }) => millisecondsOf(lastUsedAt),
      wide: true,
      cell: (key) => <Dim apiKey={key}>{date(key.lastUsedAt)}</Dim>,
    },
    {
      key: "spent",
      head: messages.spent,
      value: ({ id }) => unitsOf(spent.get(id) ?? "0"),
      right: true,
      wide: true,
      cell: (key) => <Dim apiKey={key}>{formats.cost(spent.get(key.id))}</Dim>,
    },
    {
      key: "limit",
      head: messages.limit,
      right: true,
      wide: true,
      cell: (key) => (
        <>
          <Dim apiKey={key}>
            {key.rateLimit === 0 ? messages.noLimit : `${formats.count(key.rateLimit)}${messages.perMinute}`}
          </Dim>
          <KeyLimitLines apiKey={key} />
        </>
      ),
    },
    {
      key: "actions",
      head: <span className="sr-only">{messages.actions}</span>,
      acts: true,
      cell: (key) =>
        key.revokedAt === undefined ? (
          <span className="flex justify-end gap-1.5">
            <IconButton label={`${messages.edit}: ${key.name}`} onClick={() => onTask({ what: "edit", key })}>
              <Pencil aria-hidden />
            </IconButton>
            <IconButton label={`${messages.revoke}: ${key.name}`} onClick={() => onTask({ what: "revoke", key })}>
              <Ban aria-hidden />
            </IconButton>
          </span>
        ) : (
          <Badge>{messages.revoked}</Badge>
        ),
    },
  ];
}

const millisecondsOf = (at: Timestamp | undefined): number | undefined =>
  at === undefined ? undefined : timestampDate(at).getTime();

/** The part of a key that can still be shown. */
export function maskedKey({ prefix, lastFour }: Pick<ApiKey, "prefix" | "lastFour">): string {
  return `${prefix}…${lastFour}`;
}

type NameCellProps = { readonly apiKey: ApiKey; readonly spent: string; readonly maker: string };

function NameCell({ apiKey, spent, maker }: NameCellProps) {
  const messages = useMessages(KEYS_MESSAGES);
  const isRevoked = apiKey.revokedAt !== undefined;
  return (
    <>
      <span
        title={apiKey.name}
        className={`line-clamp-2 max-w-72 min-w-24 font-medium break-words max-sm:max-w-36 ${isRevoked ? "text-muted line-through" : ""}`}
      >
        {apiKey.name}
      </span>
      <code className="font-mono text-xs whitespace-nowrap text-muted">{maskedKey(apiKey)}</code>
      <span className="block text-xs text-muted md:hidden">
        {messages.spent}: {spent}
        {maker === "" ? null : (
          <span className="block max-w-44 wrap-anywhere">
            {messages.madeBy} {maker}
          </span>
        )}
        <KeyLimitLines apiKey={apiKey} />
      </span>
    </>
  );
}

function Dim({ apiKey, children }: { readonly apiKey: ApiKey; readonly children: string }) {
  return <span className={`whitespace-nowrap ${apiKey.revokedAt === undefined ? "" : "text-muted"}`}>{children}</span>;
}
