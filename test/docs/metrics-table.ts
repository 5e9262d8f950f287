import { METRICS } from "#pigeonhole/receiver/metrics.js";

/** All metrics as a Markdown table. */
export function metricsTable(): string {
  const rows = METRICS.map(({ name, instrument, unit, attributes, description }) => {
    const listed = attributes.length === 0 ? "–" : attributes.map((attribute) => `\`${attribute}\``).join(", ");
    return `| \`${name}\` | ${instrument} | ${unit === "" ? "–" : `\`${unit}\``} | ${listed} | ${description} |`;
  });
  return ["| metric | kind | unit | attributes | meaning |", "|---|---|---|---|---|", ...rows].join("\n");
}
