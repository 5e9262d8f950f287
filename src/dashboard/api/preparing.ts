/** Part of each answer with texts that may quote a body. */
export interface PreparingState {
  /** True while some of its texts, or its payload, are being redacted and hidden so far: ask again in a second. */
  isPreparing?: true;
}
