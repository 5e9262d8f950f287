import type { BoundOperation } from "../contract/bind-operations.js";
import type { Page } from "../contract/paging.js";
import type { PagePromise } from "./call-types.js";
import { apiErrorFor } from "./errors.js";
import type { ResolvedClient } from "./options.js";
import { type CallArguments, prepareCall, splitArguments } from "./prepare-call.js";
import { runCall } from "./run-call.js";

/** The function of a client for one row of the contract. */
export function makeCall(bound: BoundOperation, resolved: ResolvedClient): (...args: unknown[]) => unknown {
  return bound.operation.paged === true ? pagedCall(bound, resolved) : singleCall(bound, resolved);
}

function singleCall(bound: BoundOperation, resolved: ResolvedClient): (...args: unknown[]) => Promise<unknown> {
  return async (...args) => run(bound, splitArguments(bound, args), resolved);
}

function pagedCall(bound: BoundOperation, resolved: ResolvedClient): (...args: unknown[]) => PagePromise<unknown> {
  const { pageParam = "cursor" } = bound.operation;
  return (...args) => {
    // A copy from the first page, since the caller may change the object between pages.
    let filters: object | undefined;
    const fetchPage = async (cursor: string | undefined): Promise<Page<unknown>> => {
      const split = splitArguments(bound, args);
      filters ??= { ...(split.query as object) };
      const query = cursor === undefined ? split.query : { ...filters, [pageParam]: cursor };
      return (await run(bound, { ...split, query }, resolved)) as Page<unknown>;
    };
    return pagePromise(fetchPage, (message) => endlessList(bound.call, message));
  };
}

async function run(bound: BoundOperation, args: CallArguments, { baseUrl, deps }: ResolvedClient): Promise<unknown> {
  return runCall(prepareCall(bound, args, baseUrl), deps);
}

function endlessList(call: string, message: string): Error {
  const unknown = { param: undefined, requestId: undefined, retryAfterMs: undefined };
  return apiErrorFor({ call, status: 200, code: "invalid_answer", message, ...unknown });
}

/** `fetchPage(undefined)` gives the first page. `refuse` gives the error for paging that cannot continue. */
function pagePromise<Row>(
  fetchPage: (cursor: string | undefined) => Promise<Page<Row>>,
  refuse: (message: string) => Error,
): PagePromise<Row> {
  const first = fetchPage(undefined);

  async function* rows(): AsyncGenerator<Row, void, undefined> {
    const seen = new Set<string>();
    for (let page = await first; ;) {
      yield* page.items;
      if (!page.hasMore) return;
      const cursor = page.nextCursor;
      // Ending here would present a part of the list as the whole list. Continuing would never end.
      if (cursor === null || cursor === "") throw refuse("The list says that it has more, without a nextCursor.");
      if (seen.has(cursor)) throw refuse("The list gives a nextCursor for the second time.");
      seen.add(cursor);
      page = await fetchPage(cursor);
    }
  }

  return Object.assign(first, { [Symbol.asyncIterator]: rows });
}
