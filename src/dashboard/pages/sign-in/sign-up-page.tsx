import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { sendVerification, signUp } from "../../api/sign-in.ts";
import { useMessages } from "../../i18n/language.tsx";
import { TextField } from "../../components/field.tsx";
import { Outside } from "../../layouts/outside.tsx";
import { InvitedNote } from "./invited-note.tsx";
import { MailSent } from "./mail-sent.tsx";
import { pathAfter } from "./page-after.ts";
import { SignInForm } from "./sign-in-form.tsx";
import { SIGN_IN_MESSAGES } from "./sign-in-messages.ts";

/** Asks for an account. Only a mail shows whether the address has one already. */
export function SignUpPage() {
  const messages = useMessages(SIGN_IN_MESSAGES);
  const { next } = useSearch({ from: "/sign-up" });
  const path = pathAfter(next, window.location.origin);
  const [sentTo, setSentTo] = useState<string | null>(null);
  if (sentTo !== null) return <MailSent again={() => sendVerification({ email: sentTo, next: path })} />;
  return (
    <Outside title={messages.signUp}>
      <InvitedNote next={next} />
      <SignInForm
        submit={messages.signUp}
        onSend={async (typed) => {
          await signUp({ name: typed("name"), email: typed("email"), password: typed("password"), next: path });
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
        <Link
          to="/sign-in"
          search={next === undefined ? {} : { next }}
          className="text-ink underline underline-offset-2"
        >
          {messages.signIn}
        </Link>
      </p>
    </Outside>
  );
}
