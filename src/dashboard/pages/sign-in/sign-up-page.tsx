import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { sendVerification, signUp } from "../../api/sign-in.ts";
import { useLanguage, useMessages } from "../../i18n/language.tsx";
import { TextField } from "../../components/field.tsx";
import { Outside } from "../../layouts/outside.tsx";
import { rememberSignUpLanguage } from "../../layouts/sign-up-language.ts";
import { MailSent } from "./mail-sent.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SIGN_IN_MESSAGES } from "./sign-in-messages.ts";

/** Asks for an account. Only a mail shows whether the address has one already. */
export function SignUpPage() {
  const messages = useMessages(SIGN_IN_MESSAGES);
  const { language } = useLanguage();
  const [sentTo, setSentTo] = useState<string | null>(null);
  if (sentTo !== null) return <MailSent again={() => sendVerification(sentTo)} />;
  return (
    <Outside title={messages.signUp}>
      <SignInForm
        submit={messages.signUp}
        onSend={async (typed) => {
          rememberSignUpLanguage(language);
          await signUp({ name: typed("name"), email: typed("email"), password: typed("password") });
          setSentTo(typed("email"));
        }}
      >
        <TextField name="name" autoComplete="name" required maxLength={100} label={messages.name} />
        <TextField name="email" type="email" autoComplete="username" required label={messages.email} />
        <TextField
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={128}
          label={messages.password}
          hint={messages.passwordHint}
        />
      </SignInForm>
      <p className="text-muted">
        {messages.haveAccount}{" "}
        <Link to="/sign-in" className="text-ink underline underline-offset-2">
          {messages.signIn}
        </Link>
      </p>
    </Outside>
  );
}
