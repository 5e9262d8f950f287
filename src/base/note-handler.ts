/** Handler name of the note for an event that was not understood: it is parked without a handler. */
export const NOTE_HANDLER = "";

/** Reason of the note for an event that no handler got, and that the receiver was asked to read again. */
export const NO_HANDLER = "no_handler";
