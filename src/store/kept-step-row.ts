import type { KeptStep } from "./inbox-view.js";

/** A finished step as the database has it. */
export interface KeptStepRow extends Pick<KeptStep, "name"> {
  /** Null in rows of older versions. */
  at: number | null;
}

export function toKeptStep({ name, at }: KeptStepRow): KeptStep {
  return { name, at: at ?? undefined };
}
