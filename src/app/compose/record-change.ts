// How calls write their lines of the activity log in the transaction of their change.

import { recordActivity } from "../../identity/members/activity.ts";
import { createRecordChangeOf } from "../../transport/calls/record-activity.ts";

/** The function of a call that writes its line. */
export const recordChangeOf = createRecordChangeOf(recordActivity);
