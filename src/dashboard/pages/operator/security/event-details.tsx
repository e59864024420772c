// One event of the security log with all its data.

import type { SecurityEvent, SecurityEventKind } from "#gen/saldo/accounts/v1/person_pb.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { LinkButton } from "../../../components/button.tsx";
import { Fact, Facts, Mono, ShortId } from "../../../components/facts.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { AccountWithId } from "../components/account-name.tsx";
import { useWhen } from "../components/amounts.ts";
import { EVENT_KIND_MESSAGES } from "./event-kind-messages.ts";
import { kindNameOf, outcomeNameOf, UUID } from "./security-search.ts";
import { SECURITY_MESSAGES } from "./security-messages.ts";

/** The name of an event. One that only a newer server knows has none. */
function useKindName(): (kind: SecurityEventKind) => string {
  const kinds = useMessages(EVENT_KIND_MESSAGES);
  return (kind) => {
    const name = kindNameOf(kind);
    return name === undefined ? UNKNOWN : kinds[name];
  };
}

type Event = { readonly event: SecurityEvent };

/** The event in words, with the server's details. */
export function EventName({ event: { kind, detail, times } }: Event) {
  const messages = useMessages(SECURITY_MESSAGES);
  const nameOf = useKindName();
  const formats = useFormats();
  return (
    <>
      <span className="font-medium">{nameOf(kind)}</span>
      {times === 1 ? null : (
        <span className="digits text-muted">
          {" "}
          · {formats.count(times)} {messages.times}
        </span>
      )}
      {detail === "" ? null : <span className="block font-mono text-xs wrap-anywhere text-muted">{detail}</span>}
    </>
  );
}

/** The subject of the event: an id is shortened, everything else is short. */
export function Subject({ subject }: { readonly subject: string }) {
  if (subject === "") return UNKNOWN;
  if (UUID.test(subject)) return <ShortId id={subject} />;
  // A network is one long word: it breaks anywhere rather than widen the table.
  return <code className="font-mono text-[0.8125rem] wrap-anywhere">{subject}</code>;
}

/** The event, and its links. */
export function EventDetails({ event }: Event) {
  const messages = useMessages(SECURITY_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  const nameOf = useKindName();
  const { outcome, accountId, personId, emailHash, network, subject, times } = event;
  const outcomeName = outcomeNameOf(outcome);
  const rows = [
    { name: messages.personId, text: personId },
    { name: messages.emailHash, text: emailHash },
    { name: messages.network, text: network },
    { name: messages.subject, text: subject },
    { name: messages.detail, text: event.detail },
    { name: messages.id, text: event.id },
  ];
  return (
    <div className="flex flex-col gap-5">
      <Facts>
        <Fact name={shared.time}>{when(event.occurredAt)}</Fact>
        <Fact name={messages.kind}>{nameOf(event.kind)}</Fact>
        <Fact name={messages.outcome}>{outcomeName === undefined ? UNKNOWN : messages[outcomeName]}</Fact>
        <Fact name={messages.count}>{formats.count(times)}</Fact>
        <Fact name={shared.account}>{accountId === "" ? UNKNOWN : <AccountWithId id={accountId} />}</Fact>
        {rows.map(({ name, text }) => (
          <Fact key={name} name={name}>
            {text === "" ? UNKNOWN : <Mono>{text}</Mono>}
          </Fact>
        ))}
      </Facts>
      <div className="flex flex-wrap gap-2">
        {personId === "" ? null : (
          <LinkButton to="/operator/security" search={{ person: personId }}>
            {messages.onlyPerson}
          </LinkButton>
        )}
        {accountId === "" ? null : (
          <LinkButton to="/operator/accounts/$accountId" params={{ accountId }}>
            {messages.openAccount}
          </LinkButton>
        )}
      </div>
    </div>
  );
}
