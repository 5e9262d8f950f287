import type { Contract } from "../../contract/contract.js";
import type { ResultFields } from "../../contract/operation.js";
import { FILE_LIMITS, type FileLink, type WorkspaceFile } from "../../contract/files.js";
import { type Caller, SandboxApiError } from "../api/api-handlers.js";
import { holdsAddress, isUnlimited } from "../access/allowlists.js";
import type { MakeId } from "../api/make-id.js";
import { Collection, type CollectionRow } from "../api/collection.js";

/** A file of the workspace. */
export interface FileRow extends CollectionRow {
  direction: "inbound" | "outbound" | "uploaded";
  deliveredTo: string | null;
  filename: string;
  contentType: string;
  size: number;
  threadId: string | null;
  messageId: string | null;
  addedAtMs: number;
  /** Undefined for an attachment of an event, whose bytes are made when they are asked for. */
  data: Uint8Array | undefined;
}

/** A link to a file. */
export interface LinkRow extends ResultFields<Contract["files"]["createLink"]> {
  fileId: string;
  fetchCount: number;
}

/** The files of a workspace and the links to them. */
export class FileStore {
  readonly files: Collection<FileRow>;
  readonly links: Collection<LinkRow>;
  readonly #maxBytes: number;
  // Kept up to date, since an emulated hour can have thousands of mails, and each asks.
  readonly #messages = new Set<string>();

  /** `maxBytes`: of all uploads together. */
  constructor({ makeId, maxBytes }: { makeId: MakeId; maxBytes: number }) {
    this.#maxBytes = maxBytes;
    this.files = new Collection({ kind: "file", idOf: (_, sequence) => `file_${makeId.hex(`file ${sequence}`)}` });
    this.links = new Collection({ kind: "link", idOf: (_, sequence) => `shr_${makeId.hex(`link ${sequence}`)}` });
  }

  /** Adds a file, under the id that an event gave it. Throws 422 `workspace_limit_reached` above the cap on bytes. */
  add(file: Omit<FileRow, keyof CollectionRow>, id?: string): FileRow {
    const held = file.data === undefined ? [] : [file, ...this.files.rows];
    if (held.reduce((bytes, { data }) => bytes + (data?.byteLength ?? 0), 0) > this.#maxBytes) {
      const message = `The sandbox holds at most ${this.#maxBytes} bytes of files (option maxFileBytes).`;
      throw new SandboxApiError({ code: "workspace_limit_reached", message });
    }
    const added = this.files.add(file, id);
    if (file.messageId !== null) this.#messages.add(`${file.direction} ${file.messageId}`);
    return added;
  }

  /** True when there were files of this message. */
  hasFilesOf(direction: FileRow["direction"], messageId: string): boolean {
    return this.#messages.has(`${direction} ${messageId}`);
  }

  /** The file with this id. Throws 404 when the caller does not see it. */
  get({ id }: { id: string }, caller: Caller): FileRow {
    return this.files.get(id, (file) => isVisible(file, caller));
  }

  linksOf(fileId: string): LinkRow[] {
    return this.links.rows.filter((link) => link.fileId === fileId);
  }

  /** What the file is used for; null for an upload that can be deleted. */
  usageOf({ id, direction }: FileRow): "received" | "sent" | "linked" | null {
    if (direction === "inbound") return "received";
    if (direction === "outbound") return "sent";
    return this.linksOf(id).some(({ revokedAt }) => revokedAt === null) ? "linked" : null;
  }

  /** Deletes the file with its links, and returns its tombstone. */
  delete(file: FileRow): object {
    for (const { id } of this.linksOf(file.id)) this.links.delete(id);
    return this.files.delete(file.id);
  }

  bodyOf(file: FileRow): WorkspaceFile {
    const { id, direction, deliveredTo, filename, contentType, size, threadId, messageId, addedAtMs } = file;
    const usage = this.usageOf(file);
    const createdAt = new Date(addedAtMs).toISOString();
    const about = { deliveredTo, filename, contentType, size, threadId, messageId, createdAt };
    return { id, direction, usage, deletable: usage === null, ...about };
  }

  clear(): void {
    this.files.clear();
    this.links.clear();
    this.#messages.clear();
  }
}

/** A narrowed key sees files that arrived at its addresses, and no upload of the whole workspace. */
export function isVisible({ deliveredTo }: FileRow, caller: Caller): boolean {
  return isUnlimited(caller) || (deliveredTo !== null && holdsAddress(caller, deliveredTo));
}

/** The link as it is sent. */
export function linkBody(link: LinkRow): FileLink {
  const { fileId: _, ...body } = link;
  return body;
}

/**
 * The name as the service stores it: without characters that no file name can hold, cut before its extension. Half a
 * character is replaced, since no URL can hold it.
 */
export function cleanFileName(given: string): string {
  const clean = given.trim().replaceAll(/[\\/:*?"<>|\p{Cc}]/gu, "_");
  if (clean.length <= FILE_LIMITS.nameLength) return wholeCharacters(clean);
  const extension = /\.[^.]{1,20}$/.exec(clean)?.[0] ?? "";
  return wholeCharacters(clean.slice(0, FILE_LIMITS.nameLength - extension.length) + extension);
}

function wholeCharacters(text: string): string {
  return Buffer.from(text).toString();
}

/** The content type as the service stores it: `application/octet-stream` for anything not shaped like one. */
export function cleanContentType(given = ""): string {
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?: *;[ -~]*)?$/.test(given) ? given : "application/octet-stream";
}

const PROGRAM_NAME =
  /\.(?:apk|app|bat|bin|cmd|com|cpl|dll|dmg|exe|jar|js|jse|mjs|msi|php|pl|ps1|py|rb|scr|sh|vbs|wsf)$/i;
const PROGRAM_TYPE = /(?:javascript|ecmascript|x-msdownload|x-sh|x-msdos-program|x-executable|java-archive)/i;

/** True for programs and scripts, which get no link. Which ones they are is not documented. */
export function isProgram({ filename, contentType }: FileRow): boolean {
  return PROGRAM_NAME.test(filename) || PROGRAM_TYPE.test(contentType);
}

/** The bytes of a file. Those of an attachment of an event are made up, as many as the event says. */
export function contentOf({ data, size, filename }: FileRow): Uint8Array {
  if (data !== undefined) return data;
  return Buffer.alloc(size, `This is ${filename} in the sandbox.\n`);
}
