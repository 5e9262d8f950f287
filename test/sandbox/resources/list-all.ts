import { expect } from "vitest";
import type { KEYS, World } from "./support.js";

interface ListInit {
  /** Rows of a page. */
  limit: number;
  /** Filters and order, as they are in the URL. @default none */
  filters?: Readonly<Record<string, string>>;
  /** The parameter that `nextCursor` goes back as. @default cursor */
  tokenName?: string;
  key?: keyof typeof KEYS;
}

/** The rows of every page of a list, with what each page says of the next. */
export async function listAll(
  { send }: World,
  path: string,
  { limit, filters = {}, tokenName = "cursor", key = "full" }: ListInit,
): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for (let token: Record<string, string> = {}; ;) {
    const search = new URLSearchParams({ limit: String(limit), ...filters, ...token });
    const { status, body } = await send(`GET ${path}?${search.toString()}`, { key });
    expect(status, JSON.stringify(body)).toBe(200);
    const { data, hasMore, nextCursor } = body as unknown as Page;
    expect(data.length).toBeLessThanOrEqual(limit);
    expect(hasMore).toBe(nextCursor !== null);
    rows.push(...data);
    if (nextCursor === null) return rows;
    token = { [tokenName]: nextCursor };
  }
}

interface Page {
  data: Record<string, unknown>[];
  hasMore: boolean;
  nextCursor: string | null;
}
