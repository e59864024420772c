import { useWords, type Words } from "../i18n/language.tsx";
import { LinkButton } from "../components/button.tsx";
import { Page } from "../components/page.tsx";
import { Outside } from "../layouts/outside.tsx";

const WORDS = {
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
} satisfies Words<Record<string, string>>;

/** The page for addresses that lead nowhere. */
export function NotFoundPage() {
  const words = useWords(WORDS);
  return (
    <Outside title={words.title}>
      <NotFound />
    </Outside>
  );
}

/** The same within a frame that is there already. */
export function NotFoundInside() {
  const words = useWords(WORDS);
  return (
    <Page title={words.title}>
      <NotFound />
    </Page>
  );
}

function NotFound() {
  const words = useWords(WORDS);
  return (
    <>
      <p className="text-muted">{words.about}</p>
      <LinkButton to="/" look="action" className="self-start">
        {words.home}
      </LinkButton>
    </>
  );
}
