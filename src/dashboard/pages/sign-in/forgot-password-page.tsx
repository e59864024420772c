import { useState } from "react";
import { forgetPassword } from "../../api/sign-in.ts";
import { useWords } from "../../i18n/language.tsx";
import { TextField } from "../../components/field.tsx";
import { Outside } from "../../layouts/outside.tsx";
import { MailSent } from "./mail-sent.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SIGN_IN_WORDS } from "./sign-in-words.ts";

/** Asks for a link by mail to choose a new password. */
export function ForgotPasswordPage() {
  const words = useWords(SIGN_IN_WORDS);
  const [sentTo, setSentTo] = useState<string | null>(null);
  if (sentTo !== null) return <MailSent again={() => forgetPassword(sentTo)} />;
  return (
    <Outside title={words.forgotTitle}>
      <p className="text-muted">{words.forgotAbout}</p>
      <SignInForm
        submit={words.sendLink}
        onSend={async (typed) => {
          await forgetPassword(typed("email"));
          setSentTo(typed("email"));
        }}
      >
        <TextField name="email" type="email" autoComplete="username" required label={words.email} />
      </SignInForm>
    </Outside>
  );
}
