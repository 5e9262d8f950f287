import { DAY, HOUR, MINUTE, SECOND } from "../../../base/duration.js";

const UNITS = [
  [DAY, "d"],
  [HOUR, "h"],
  [MINUTE, "min"],
  [SECOND, "s"],
] as const;

/** `0 s`, `12 s`, `5 min`, `3.5 h`, `2 d`: how old something is, rounded. */
export function formatAge(ms: number): string {
  const [unitMs, unit] = UNITS.find(([each]) => ms >= each) ?? [SECOND, "s"];
  const value = ms / unitMs;
  return `${value < 10 && unitMs > MINUTE ? Number(value.toFixed(1)) : Math.floor(value)} ${unit}`;
}
