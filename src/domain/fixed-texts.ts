/** What more than one stage says to a model in the same words. */

/** For a call that was cancelled before its executor was called (PREP-12, CAN-1, ACT-3). */
export const CANCELLED_TEXT = "not_executed: cancelled before dispatch. Nothing happened.";

/** For a call that nobody approved, where nobody said why (APP-1). */
export const NO_APPROVAL_TEXT = "not_executed: no approval was given for this call.";

/** Of what has happened and cannot be told (UNC-1, ACT-10). */
export const COMPLETED_TEXT = "completed; do not repeat";

/** In place of a result that could not be recorded although the call ended (UNC-1). */
export const UNRECORDABLE_TEXT = `${COMPLETED_TEXT}. Its result could not be recorded`;
