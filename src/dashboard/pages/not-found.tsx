import { useMessages, type Messages } from "../i18n/language.tsx";
import { LinkButton } from "../components/button.tsx";
import { Page } from "../components/page.tsx";
import { Outside } from "../layouts/outside.tsx";

const MESSAGES = {
  id: {
    title: "Halaman tidak ada",
    about: "Alamat ini tidak menunjuk ke apa pun, atau bukan milik akun Anda.",
    home: "Ke ringkasan",
  },
  en: {
    title: "No such page",
    about: "This address leads nowhere, or to what is not your account's.",
    home: "To the overview",
  },
} satisfies Messages<Record<string, string>>;

/** The page for addresses without a page. */
export function NotFoundPage() {
  const messages = useMessages(MESSAGES);
  return (
    <Outside title={messages.title}>
      <NotFound />
    </Outside>
  );
}

/** The same inside an existing frame. */
export function NotFoundInside() {
  const messages = useMessages(MESSAGES);
  return (
    <Page title={messages.title}>
      <NotFound />
    </Page>
  );
}

function NotFound() {
  const messages = useMessages(MESSAGES);
  return (
    <>
      <p className="text-muted">{messages.about}</p>
      <LinkButton to="/" variant="action" className="self-start">
        {messages.home}
      </LinkButton>
    </>
  );
}
