import { useState } from "react";
import { forgetPassword } from "../../api/sign-in.ts";
import { useWords } from "../../language/language.tsx";
import { TextField } from "../../parts/field.tsx";
import { Outside } from "../../shell/outside.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SIGN_IN_WORDS } from "./sign-in-words.ts";
import { MailSent } from "./sign-up-page.tsx";

/** Asks for a link by mail to choose a new password. */
export function ForgotPasswordPage() {
  const words = useWords(SIGN_IN_WORDS);
  const [isSent, setSent] = useState(false);
  if (isSent) return <MailSent />;
  return (
    <Outside title={words.forgotTitle}>
      <p className="text-muted">{words.forgotAbout}</p>
      <SignInForm
        submit={words.sendLink}
        onSend={async (typed) => {
          await forgetPassword(typed("email"));
          setSent(true);
        }}
      >
        <TextField name="email" type="email" autoComplete="username" required label={words.email} />
      </SignInForm>
    </Outside>
  );
}
