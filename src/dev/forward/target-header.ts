/**
 * In the answer to `pigeonhole trigger`: the URL of the app, so that the command gives advice about the app's path and
 * not about the dev server's. Other senders do not get it.
 */
export const TARGET_HEADER = "X-Pigeonhole-Target";
