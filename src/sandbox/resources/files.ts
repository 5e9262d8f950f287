import { DAY } from "../../base/duration.js";
import type { Contract } from "../../contract/contract.js";
import { FILE_KINDS, type FILE_SORTS, type FileStats } from "../../contract/files.js";
import type { QueryInput } from "../../contract/operation.js";
import { type ApiHandlers, type Caller, SandboxApiError, SpecialAnswer, requireOneOf } from "../api/api-handlers.js";
import { type PageBody, type Sorting, isWithin, pageBody } from "../api/page-rows.js";
import { domainOf, isUnlimited } from "../access/allowlists.js";
import { isoNow } from "../clock/sandbox-time.js";
import {
  type FileRow,
  FileStore,
  cleanContentType,
  cleanFileName,
  contentOf,
  isProgram,
  isVisible,
  linkBody,
} from "./file-store.js";
import { keepFilesOf } from "./files-of-events.js";
import type { SandboxResource, Workspace } from "./resource.js";
import { isLooselyIn } from "./search-text.js";

/** The workspace's files and the links to them. See docs/service.md#files. */
export function createFiles(workspace: Workspace): SandboxResource<"files"> {
  const { makeId, options, owned, fire, clock } = workspace;
  const store = new FileStore({ makeId, maxBytes: options.maxFileBytes });
  const { files, links } = store;

  /** Deletes a file and tells the endpoints that want to know. */
  function remove(file: FileRow): object {
    const data = store.bodyOf(file);
    const tombstone = store.delete(file);
    fire("file.deleted", data);
    return tombstone;
  }

  const handlers: ApiHandlers["files"] = {
    list: ({ query, caller }) => pageBody(pageFiles(store, query, caller), (row) => store.bodyOf(row)),
    get: ({ params, caller }) => store.bodyOf(store.get(params, caller)),
    stats: ({ caller, nowMs }) => countFiles(store, caller, nowMs),
    content: ({ params, caller }) => download(store.get(params, caller)),
    ...linkHandlers(store, workspace),
    upload({ query: { filename }, body, contentType, caller, nowMs }) {
      const file = store.add({
        direction: "uploaded",
        deliveredTo: isUnlimited(caller) ? null : firstAddressOf(caller, options.addresses),
        filename: cleanFileName(filename),
        contentType: cleanContentType(contentType),
        size: body.byteLength,
        threadId: null,
        messageId: null,
        addedAtMs: nowMs,
        data: body,
      });
      fire("file.uploaded", store.bodyOf(file));
      return store.bodyOf(file);
    },
    delete({ params, caller }) {
      const file = store.get(params, caller);
      const usage = store.usageOf(file);
      if (usage === null) return remove(file);
      const message = `The file ${file.filename} is kept. ${REASONS[usage]}`;
      throw new SandboxApiError({ code: "file_in_use", message });
    },
    deleteMany: ({ body: { ids }, caller }) => deleteFiles(store, { ids, caller, remove }),
  };
  return {
    handlers,
    rows: () => files.rows.map((file) => store.bodyOf(file)),
    reset: () => store.clear(),
    onEvent: (event) => keepFilesOf(event, store, owned),
    openLink(path) {
      const id = /^\/(shr_\w+)\//.exec(path)?.[1];
      if (id === undefined) return undefined;
      const { fileId, fetchCount } = links.get(id, ({ revokedAt }) => revokedAt === null);
      links.change(id, { fetchCount: fetchCount + 1, lastFetchedAt: isoNow(clock) });
      return download(files.get(fileId));
    },
  };
}

type LinkHandlers = Pick<ApiHandlers["files"], "links" | "createLink" | "revokeLink" | "revokeLinks">;

/** Links to a file, which anyone can open. */
function linkHandlers(store: FileStore, { options, apiUrl }: Workspace): LinkHandlers {
  const { links } = store;
  return {
    links({ params, query, caller }) {
      const { id } = store.get(params, caller);
      const where = ({ fileId }: { fileId: string }): boolean => fileId === id;
      return pageBody(links.page({ list: "files.links", filters: [id], where, ...query }), linkBody);
    },
    createLink({ params, body: { domain }, caller, nowMs }) {
      const file = store.get(params, caller);
      if (isProgram(file)) throw new SandboxApiError({ code: "file_unshareable" });
      const asked = [domain?.toLowerCase() ?? "", domainOf(file.deliveredTo ?? "")];
      const host = asked.find((one) => options.domains.includes(one));
      const base = host === undefined ? apiUrl() : `https://files.${host}`;
      const unused = { revokedAt: null, fetchCount: 0, lastFetchedAt: null };
      const { id } = links.add({ fileId: file.id, url: base, ...unused, createdAt: new Date(nowMs).toISOString() });
      return linkBody(links.change(id, { url: `${base}/${id}/${encodeURIComponent(file.filename)}` }));
    },
    revokeLink({ params, caller, nowMs }) {
      const { id } = store.get(params, caller);
      const link = links.get(params.linkId, ({ fileId }) => fileId === id);
      const revokedAt = link.revokedAt ?? new Date(nowMs).toISOString();
      return linkBody(links.change(link.id, { revokedAt }));
    },
    revokeLinks({ params, caller, nowMs }) {
      const { id } = store.get(params, caller);
      const working = store.linksOf(id).filter(({ revokedAt }) => revokedAt === null);
      for (const link of working) links.change(link.id, { revokedAt: new Date(nowMs).toISOString() });
      return { revoked: working.length };
    },
  };
}

/** Why a file that is used is kept. */
const REASONS = {
  received: "It arrived on a message.",
  sent: "It was sent on a message.",
  linked: "It has a working link.",
};

/** Deletes those of the files that the caller sees and that nothing uses. */
function deleteFiles(
  store: FileStore,
  { ids, caller, remove }: { ids: readonly string[]; caller: Caller; remove: (file: FileRow) => void },
): object {
  const wanted = [...new Set(ids)].map((id) => ({ id, file: store.files.find(id) }));
  const seen = wanted.flatMap(({ file }) => (file !== undefined && isVisible(file, caller) ? [file] : []));
  const kept = seen.flatMap((file) => {
    const usage = store.usageOf(file);
    return usage === null ? [] : [{ id: file.id, usage, reason: REASONS[usage] }];
  });
  const deleted = seen.filter(({ id }) => !kept.some((row) => row.id === id));
  for (const file of deleted) remove(file);
  const missing = wanted.filter(({ id }) => !seen.some((file) => file.id === id)).map(({ id }) => id);
  return { deleted: deleted.map(({ id }) => id), kept, missing };
}

function download(file: FileRow): SpecialAnswer {
  const headers = {
    "content-type": file.contentType,
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
    "x-content-type-options": "nosniff",
  };
  return new SpecialAnswer({ body: contentOf(file), headers });
}

/** The orders of the list of files, the usual one first. */
const SORTINGS: Readonly<Record<(typeof FILE_SORTS)[number], Sorting<FileRow>>> = {
  newest: { positionOf: ({ addedAtMs }, sequence) => [addedAtMs, sequence] },
  oldest: { positionOf: ({ addedAtMs }, sequence) => [addedAtMs, sequence], order: "ascending" },
  largest: { positionOf: ({ size }, sequence) => [size, sequence] },
  name: { positionOf: ({ filename }, sequence) => [filename.toLowerCase(), sequence], order: "ascending" },
};

const KINDS: Readonly<Record<string, RegExp>> = {
  image: /^image\//,
  pdf: /^application\/pdf\b/,
  audio: /^audio\//,
  video: /^video\//,
  text: /^text\//,
};

function pageFiles(store: FileStore, query: QueryInput<Contract["files"]["list"]>, caller: Caller): PageBody<FileRow> {
  const { q = "", kind, direction, since, until, sort, limit, cursor } = query;
  requireOneOf("kind", kind, FILE_KINDS);
  requireOneOf("direction", direction, ["inbound", "outbound", "uploaded"]);
  const address = query.address?.toLowerCase();
  const pattern = kind === undefined ? undefined : KINDS[kind];
  const { addressAllowlist, domainAllowlist } = caller;
  return store.files.page({
    list: "files",
    filters: [q, kind, direction, address, since, until, addressAllowlist, domainAllowlist],
    where: (file) =>
      isVisible(file, caller) &&
      q.split(/\s+/).every((word) => [file.filename, file.contentType].some((text) => isLooselyIn(word, text))) &&
      (pattern === undefined || pattern.test(file.contentType)) &&
      (direction === undefined || file.direction === direction) &&
      (address === undefined || file.deliveredTo?.toLowerCase() === address) &&
      isWithin(file.addedAtMs, { since, until }),
    sortings: SORTINGS,
    sort,
    limit,
    cursor,
  });
}

function countFiles(store: FileStore, caller: Caller, nowMs: number): FileStats {
  const seen = store.files.rows.filter((file) => isVisible(file, caller));
  const amountOf = (rows: readonly FileRow[]) => ({
    files: rows.length,
    bytes: rows.reduce((sum, { size }) => sum + size, 0),
  });
  const grouped = (keyOf: (file: FileRow) => string | null) =>
    [...new Set(seen.map(keyOf))]
      .flatMap((key) => (key === null ? [] : [{ key, ...amountOf(seen.filter((file) => keyOf(file) === key)) }]))
      .toSorted((a, b) => b.bytes - a.bytes);
  const of = (direction: FileRow["direction"]) => amountOf(seen.filter((file) => file.direction === direction));
  const working = seen.flatMap(({ id }) => store.linksOf(id)).filter(({ revokedAt }) => revokedAt === null);
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const days = Array.from({ length: 30 }, (_, index) => dayOf(nowMs - (29 - index) * DAY));
  return {
    ...amountOf(seen),
    received: of("inbound"),
    sent: of("outbound"),
    uploaded: of("uploaded"),
    types: grouped(({ contentType }) => contentType).map(({ key, ...amount }) => ({ contentType: key, ...amount })),
    addresses: grouped(({ deliveredTo }) => deliveredTo).map(({ key, ...amount }) => ({ address: key, ...amount })),
    days: days.map((date) => ({ date, files: seen.filter(({ addedAtMs }) => dayOf(addedAtMs) === date).length })),
    links: { working: working.length, fetches: working.reduce((sum, { fetchCount }) => sum + fetchCount, 0) },
  };
}

/** The first address that a narrowed key holds: one of its own, or the first of the workspace in its domains. */
function firstAddressOf({ addressAllowlist, domainAllowlist }: Caller, owned: readonly string[]): string | null {
  return addressAllowlist[0] ?? owned.find((address) => domainAllowlist.includes(domainOf(address))) ?? null;
}
