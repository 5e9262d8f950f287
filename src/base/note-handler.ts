/** Handler name of the note for an event that was not understood: it is parked without a handler. */
export const NOTE_HANDLER = "";
