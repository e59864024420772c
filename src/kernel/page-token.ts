// The one refusal of a page token, so that every list names it alike.

import { ValidationError } from "./errors.ts";

/** What a list refuses as a page token: it must be the `next_page_token` of the page before. */
export function wrongPageToken(): ValidationError {
  return new ValidationError([{ field: "pageToken", rule: "page_token", message: "must come from the page before" }]);
}
