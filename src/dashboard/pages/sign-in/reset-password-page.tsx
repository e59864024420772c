import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { resetPassword } from "../../api/sign-in.ts";
import { useMessages } from "../../i18n/language.tsx";
import { TextField } from "../../components/field.tsx";
import { Outside } from "../../layouts/outside.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SIGN_IN_MESSAGES } from "./sign-in-messages.ts";

/** Sets a new password by the link of a mail. */
export function ResetPasswordPage() {
  const messages = useMessages(SIGN_IN_MESSAGES);
  const { token, error, after, next } = useSearch({ from: "/reset-password" });
  const [isSaved, setSaved] = useState(false);
  if (isSaved || token === undefined || error !== undefined) {
    return (
      <Outside title={messages.forgotTitle}>
        <p role="status" className="text-muted">
          {isSaved ? messages.saved : messages.linkSpent}
        </p>
        {isSaved ? (
          <Link to="/sign-in" search={next === undefined ? {} : { next }} className="underline underline-offset-2">
            {messages.signIn}
          </Link>
        ) : (
          <Link to="/forgot-password" className="underline underline-offset-2">
            {messages.sendLink}
          </Link>
        )}
      </Outside>
    );
  }
  return (
    <Outside title={after === "sign-up" ? messages.confirmTitle : messages.forgotTitle}>
      {after === "sign-up" ? <p className="text-muted">{messages.confirmAbout}</p> : null}
      <SignInForm
        submit={messages.save}
        onSend={async (typed) => {
          await resetPassword({ token, newPassword: typed("password") });
          setSaved(true);
        }}
      >
        <TextField
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={128}
          label={messages.newPassword}
          hint={messages.passwordHint}
        />
      </SignInForm>
    </Outside>
  );
}
