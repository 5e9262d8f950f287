/** Why a delivery is not understood, where that quotes nothing of it. */
export const UNDECODABLE_TEXTS = {
  notUtf8: "The body is not valid UTF-8.",
  notJson: "The body is not valid JSON.",
  unknownType: "This version does not know the event type, and no handler matches it.",
} as const;
