import { z } from "zod";
import type { Resource } from "./operation.js";
import { pageOf, pageQuery } from "./paging.js";
import { createRows } from "./create-rows.js";
import { nullable, openEnum, someText, textOf, timestamp } from "./shapes.js";

/** The size of files and of lists about them. See docs/service.md#files. */
export const FILE_LIMITS = { maxBytes: 100 * 1024 * 1024, nameLength: 255, batchDelete: 100 } as const;

/** How `files.list` can be sorted. */
export const FILE_SORTS = ["newest", "oldest", "largest", "name"] as const;
/** The kinds of files by which `files.list` filters. */
export const FILE_KINDS = ["image", "pdf", "audio", "video", "text"] as const;
const DIRECTIONS = ["inbound", "outbound", "uploaded"] as const;
const USAGES = ["received", "sent", "linked", "scheduled"] as const;

const file = z.looseObject({
  id: z.string(),
  direction: openEnum(DIRECTIONS).default("uploaded"),
  /** Null for an upload that is not used. */
  usage: nullable(openEnum(USAGES)),
  /** True only for an upload that nothing depends on. */
  deletable: z.boolean().default(false),
  /** The address that it arrived at; null for an upload of the whole workspace. */
  deliveredTo: nullable(z.string()),
  filename: nullable(z.string()),
  contentType: nullable(z.string()),
  /** In bytes. */
  size: nullable(z.number()),
  threadId: nullable(z.string()),
  messageId: nullable(z.string()),
  /** When it was added. */
  createdAt: nullable(z.string()),
});

const link = z.looseObject({
  id: z.string(),
  /** SECRET: anyone who knows it can fetch the file. */
  url: nullable(z.string()),
  /** Null while it works. */
  revokedAt: nullable(z.string()),
  /** How often it was fetched. */
  fetchCount: nullable(z.number()),
  lastFetchedAt: nullable(z.string()),
  createdAt: nullable(z.string()),
});

const amount = z.looseObject({ files: z.number().default(0), bytes: z.number().default(0) });
const none = { files: 0, bytes: 0 };

const fileStats = z.looseObject({
  ...amount.shape,
  received: amount.default(none),
  sent: amount.default(none),
  uploaded: amount.default(none),
  /** The types that take the most space. */
  types: z.array(z.looseObject({ contentType: z.string(), ...amount.shape })).default([]),
  /** The addresses whose files take the most space. */
  addresses: z.array(z.looseObject({ address: z.string(), ...amount.shape })).default([]),
  /** Files that arrived on each of the last 30 days. */
  days: z.array(z.looseObject({ date: z.string(), files: z.number() })).default([]),
  /** Working links, and how often they were fetched. */
  links: z.looseObject({ working: z.number(), fetches: z.number() }).default({ working: 0, fetches: 0 }),
});

const batchDelete = z.looseObject({
  /** Ids of the deleted files. */
  deleted: z.array(z.string()).default([]),
  /** Files that something depends on, and what does. */
  kept: z
    .array(z.looseObject({ id: z.string(), usage: nullable(openEnum(USAGES)), reason: nullable(z.string()) }))
    .default([]),
  /** Ids of no file, or of one that the key does not see. */
  missing: z.array(z.string()).default([]),
});

/** A file as the API returns it. */
export type WorkspaceFile = z.output<typeof file>;
/** A link to a file, by which anyone can fetch it. */
export type FileLink = z.output<typeof link>;
/** The workspace's counts of files. */
export type FileStats = z.output<typeof fileStats>;
const fileId = z.string().regex(/^file_[0-9a-f]{24}$/, { error: "Must be file_ and 24 hex characters." });
const linkId = z
  .string()
  .regex(/^shr_[A-Za-z0-9_-]{1,100}$/, { error: "Must be the id of a link, which begins with shr_." });
const id = "file_65b8f0a2c4d6e8f001234567";
const rows = createRows({
  all: "/files",
  scopes: ["files:read", "files:write"],
  one: { path: "/files/{id}", params: z.strictObject({ id: fileId }), example: { id } },
});
const ofLinks = { path: "/files/{id}/links" } as const;

/** Every attachment that was sent or received, and every uploaded file, with links to it. See docs/service.md#files. */
export const files = {
  /** Lists the files. */
  list: rows.list(pageOf(file), {
    doc: "Lists the files.",
    query: z.strictObject({
      /** Searches name and type; without a match, close spellings. */
      q: z.string().optional(),
      kind: openEnum(FILE_KINDS).optional(),
      direction: openEnum(DIRECTIONS).optional(),
      /** The address that it arrived at. */
      address: z.string().optional(),
      /** Added at or after this time. */
      since: timestamp().optional(),
      /** Added before this time. */
      until: timestamp().optional(),
      /** `newest` unless another is named. */
      sort: openEnum(FILE_SORTS).optional(),
      ...pageQuery(),
    }),
    example: { query: { kind: "pdf", direction: "inbound", since: "2026-01-30T00:00:00Z" } },
  }),
  /** Reads what is known about one file. */
  get: rows.get(file, { doc: "Reads what is known about one file." }),
  /** Counts files, bytes and links. */
  stats: rows.read("/files/stats", fileStats, { doc: "Counts files, bytes and links." }),
  /** Downloads the bytes of a file. */
  content: rows.read("/files/{id}/content", undefined, {
    doc: "Downloads the bytes of a file.",
    downloads: true,
  }),
  /** Lists the links to a file, newest first. */
  links: rows.list(pageOf(link), { doc: "Lists the links to a file, newest first.", ...ofLinks }),
  /** Makes a new link by which anyone can fetch the file. */
  createLink: rows.create(link, {
    doc: "Makes a new link by which anyone can fetch the file.",
    ...ofLinks,
    body: z.strictObject({
      /** A domain of the workspace with a host for files. */
      domain: textOf(1, 253).optional(),
    }),
    errors: ["file_unshareable"],
    example: { body: { domain: "acme.example.com" } },
  }),
  /** Ends one link, in mail that was sent too. */
  revokeLink: rows.delete({
    doc: "Ends one link, in mail that was sent too.",
    path: "/files/{id}/links/{linkId}",
    params: z.strictObject({ id: fileId, linkId }),
    result: link,
    retry: "repeatable",
    example: { params: { id, linkId: "shr_65b8f0a2c4d6e8f0089abcde" } },
  }),
  /** Ends every link to a file, and says how many still worked. */
  revokeLinks: rows.delete({
    doc: "Ends every link to a file, and says how many still worked.",
    ...ofLinks,
    result: z.looseObject({ revoked: z.number().default(0) }),
  }),
  /** Uploads a file of 1 byte to 100 MB. */
  upload: rows.create(file, {
    doc: "Uploads a file of 1 byte to 100 MB.",
    query: z.strictObject({
      /** Its name, which is cleaned, and cut at 255 characters. */
      filename: z.string().regex(/\S/, { error: "Must not be blank." }),
    }),
    uploads: { maxBytes: FILE_LIMITS.maxBytes },
    fires: ["file.uploaded"],
    example: { query: { filename: "price-list.pdf" } },
  }),
  /** Deletes an upload that nothing depends on. */
  delete: rows.delete({
    doc: "Deletes an upload that nothing depends on.",
    fires: ["file.deleted"],
    errors: ["file_in_use"],
  }),
  /** Deletes the files of up to 100 ids that nothing depends on. */
  deleteMany: rows.act("/files/batch-delete", batchDelete, {
    doc: "Deletes the files of up to 100 ids that nothing depends on.",
    body: z.strictObject({
      /** 1 to 100 ids; a repeated one counts once. */
      ids: z
        .array(someText())
        .min(1, { error: "Must name at least one file." })
        .refine((ids) => new Set(ids).size <= FILE_LIMITS.batchDelete, { error: "Must name at most 100 files." })
        .readonly(),
    }),
    fires: ["file.deleted"],
    example: { body: { ids: [id] } },
  }),
} as const satisfies Resource;
