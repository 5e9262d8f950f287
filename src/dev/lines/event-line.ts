/**
 * The kind of a piece of a line, from which a printer may choose a colour. Colour is never the only sign: every line
 * has a symbol and words.
 */
export type Tone = "good" | "bad" | "warn" | "dim" | "strong" | "plain";

/** A part of a line: its tone and its text, already escaped. */
export type Part = readonly [tone: Tone, text: string];

/** A line before it is painted. */
export interface EventLine {
  parts: readonly Part[];
  /** Not cut to the terminal's width: half of a URL, a command or an advice would be useless. @default false */
  isWhole?: boolean;
}

/** A line below another one that says what to do. */
export function lineBelow(tone: Tone, text: string): EventLine {
  return {
    parts: [
      ["plain", "          "],
      [tone, text],
    ],
    isWhole: true,
  };
}

/** The time of day on this machine. */
export function clockTime(ms: number): string {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
