// What can go wrong while a request's body is received. The request itself may be sound: it can be sent again.

import { DomainError, TooManyAtOnce } from "./errors.ts";

/** The rest of a body came too slowly, or not at all. */
export class RequestTimeout extends DomainError {
  readonly code = "request_timeout";
  constructor() {
    super("The request arrived too slowly. Send it again.");
  }
}

/** The caller has as many large bodies on their way as it may. */
export class TooManyUploads extends TooManyAtOnce {
  constructor() {
    super("This key is sending as many large requests at once as it may. Try again when one of them has arrived.");
  }
}
