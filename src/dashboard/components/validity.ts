// The browser's checks of a form's fields before it is sent. The browser words them in its own language; these are in
// the page's.

import { type FormEvent, type RefObject, useEffect, useRef } from "react";
import { useMessages } from "../i18n/language.tsx";

const MESSAGES = {
  id: {
    missing: "Isi kolom ini.",
    email: "Tulis alamat e-mail lengkap, misalnya nama@contoh.id.",
    tooShort: (least: number) => `Minimal ${least} karakter.`,
    unfit: "Isian ini belum benar.",
  },
  en: {
    missing: "Fill in this field.",
    email: "Write a whole e-mail address, such as name@example.com.",
    tooShort: (least: number) => `At least ${least} characters.`,
    unfit: "This is not right yet.",
  },
};

type Typed = HTMLInputElement | HTMLTextAreaElement;

/** Sets a field's problem, and words the browser's own ones in the page's language. */
export function useValidity<Field extends Typed>(
  complaint = "",
): {
  readonly ref: RefObject<Field | null>;
  readonly onInvalid: (event: FormEvent<Field>) => void;
  readonly onInput: (event: FormEvent<Field>) => void;
} {
  const messages = useMessages(MESSAGES);
  const ref = useRef<Field>(null);
  useEffect(() => ref.current?.setCustomValidity(complaint), [complaint]);
  return {
    ref,
    onInvalid: ({ currentTarget }) => {
      if (!currentTarget.validity.customError) currentTarget.setCustomValidity(sentenceOf(currentTarget, messages));
    },
    // The problem is cleared on the next input; otherwise the field would stay invalid for ever.
    onInput: ({ currentTarget }) => currentTarget.setCustomValidity(complaint),
  };
}

function sentenceOf(field: Typed, messages: typeof MESSAGES.id): string {
  const { valueMissing, typeMismatch, tooShort } = field.validity;
  if (valueMissing) return messages.missing;
  if (typeMismatch && field.type === "email") return messages.email;
  if (tooShort) return messages.tooShort(field.minLength);
  return field.title === "" ? messages.unfit : field.title;
}
