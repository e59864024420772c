import { Mail } from "lucide-react";
import { useMessages } from "../../i18n/language.tsx";
import { isForInvite } from "./page-after.ts";
import { SIGN_IN_MESSAGES } from "./sign-in-messages.ts";

/**
 * Shown where the link of an invitation led here. It does not name the account: only the invited person learns it, and who reads this page is
 * not known yet.
 */
export function InvitedNote({ next }: { readonly next: string | undefined }) {
  const messages = useMessages(SIGN_IN_MESSAGES);
  if (!isForInvite(next, window.location.origin)) return null;
  return (
    <p className="flex items-start gap-2 rounded-xl bg-good-soft p-4 text-good">
      <Mail className="mt-0.5 size-4 shrink-0" aria-hidden />
      {messages.invited}
    </p>
  );
}
