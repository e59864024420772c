import { useMessages, type Messages } from "../i18n/language.tsx";
import { Empty } from "../components/states.tsx";
import { Page } from "../components/page.tsx";

const MESSAGES = {
  id: {
    title: "Anda bukan anggota akun ini lagi",
    about: "Pilih akun lain di navigasi. Akun Anda sendiri selalu ada di sana.",
  },
  en: {
    title: "You are not a member of this account any more",
    about: "Choose another account in the navigation. Your own account is always there.",
  },
} satisfies Messages<Record<string, string>>;

/** In place of every page, after the person was removed from the account that the session acts for. */
export function NotAMember() {
  const messages = useMessages(MESSAGES);
  return (
    <Page title={messages.title}>
      <Empty title={messages.title}>{messages.about}</Empty>
    </Page>
  );
}
