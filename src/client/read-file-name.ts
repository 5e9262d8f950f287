const EXTENDED = /(?:^|;)\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i;
const QUOTED = /(?:^|;)\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i;
const PLAIN = /(?:^|;)\s*filename\s*=\s*([^";\s]+)/i;

/**
 * The name of a file in a header Content-Disposition (RFC 6266), without folders and control characters; undefined
 * without one, and for `.` and `..`.
 */
export function readFileName(header: string | null): string | undefined {
  if (header === null) return undefined;
  const name = decode(EXTENDED.exec(header)?.[1]) ?? unquote(header) ?? PLAIN.exec(header)?.[1] ?? "";
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const safe = last.replaceAll(/[\p{Cc}\p{Cs}]/gu, "_").trim();
  return safe === "" || safe === "." || safe === ".." ? undefined : safe;
}

function decode(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function unquote(header: string): string | undefined {
  return QUOTED.exec(header)?.[1]?.replaceAll(/\\(.)/g, "$1");
}
