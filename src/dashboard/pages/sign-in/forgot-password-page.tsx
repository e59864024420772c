import { useState } from "react";
import { forgetPassword } from "../../api/sign-in.ts";
import { useMessages } from "../../i18n/language.tsx";
import { TextField } from "../../components/field.tsx";
import { Outside } from "../../layouts/outside.tsx";
import { MailSent } from "./mail-sent.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SIGN_IN_MESSAGES } from "./sign-in-messages.ts";

/** Requests a mail with a link to choose a new password. */
export function ForgotPasswordPage() {
  const messages = useMessages(SIGN_IN_MESSAGES);
  const [sentTo, setSentTo] = useState<string | null>(null);
  if (sentTo !== null) return <MailSent again={() => forgetPassword(sentTo)} />;
  return (
    <Outside title={messages.forgotTitle}>
      <p className="text-muted">{messages.forgotAbout}</p>
      <SignInForm
        submit={messages.sendLink}
        onSend={async (typed) => {
          await forgetPassword(typed("email"));
          setSentTo(typed("email"));
        }}
      >
        <TextField name="email" type="email" autoComplete="username" required label={messages.email} />
      </SignInForm>
    </Outside>
  );
}
