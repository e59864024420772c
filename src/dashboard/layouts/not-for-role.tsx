import type { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { LinkButton } from "../components/button.tsx";
import { Page } from "../components/page.tsx";
import { Empty } from "../components/states.tsx";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { ROLE_MESSAGES, roleName } from "./role-messages.ts";

const MESSAGES = {
  id: {
    title: "Halaman ini bukan untuk peran Anda",
    role: "Peran Anda di akun ini:",
    ask: "Pemilik atau admin akun dapat mengubah peran Anda.",
    home: "Ke halaman awal",
  },
  en: {
    title: "This page is not for your role",
    role: "Your role in this account:",
    ask: "An owner or admin of the account can change your role.",
    home: "To the first page",
  },
} satisfies Messages<Record<string, string>>;

/** In place of a page that the person's role may not read in the account. */
export function NotForRole({ role }: { readonly role: AccountRole }) {
  const messages = useMessages(MESSAGES);
  const names = useMessages(ROLE_MESSAGES);
  const name = roleName(role);
  return (
    <Page title={messages.title}>
      <Empty title={messages.title} action={<LinkButton to="/">{messages.home}</LinkButton>}>
        <p>
          {messages.role} <strong>{names[name]}</strong>. {name === "none" ? null : names[`${name}About`]}
        </p>
        <p>{messages.ask}</p>
      </Empty>
    </Page>
  );
}
