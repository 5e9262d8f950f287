import type { Contract } from "../../contract/contract.js";
import type { ResultFields } from "../../contract/operation.js";
import { SIGNATURE_LIMITS } from "../../contract/signatures.js";
import { type ApiHandlers, type Caller, SandboxApiError, invalidParameter } from "../api/api-handlers.js";
import { holdsAddress, ownsAddress } from "../access/allowlists.js";
import { Collection } from "../api/collection.js";
import { isoNow } from "../clock/sandbox-time.js";
import type { SandboxResource, Workspace } from "./resource.js";

/** The address is in lower case. */
type SignatureRow = ResultFields<Contract["signatures"]["get"]>;

/** What a caller says about the defaults of an address; undefined leaves it to the rules. */
type Defaults = { [Field in "isDefault" | "isReplyDefault"]?: boolean | undefined };

/** Signatures of the workspace's addresses. See docs/service.md#signatures. */
export function createSignatures(workspace: Workspace): SandboxResource<"signatures"> {
  const { clock } = workspace;
  const { signatures, of, get, add, setDefaults, checkAddresses } = signatureRules(workspace);

  const handlers: ApiHandlers["signatures"] = {
    list({ query: { address, ...query }, caller }) {
      const wanted = address?.toLowerCase();
      return signatures.page({
        list: "signatures",
        filters: [wanted, caller.addressAllowlist, caller.domainAllowlist],
        where: (row) => (wanted === undefined || row.address === wanted) && holdsAddress(caller, row.address),
        sortings: { address: { positionOf: (row, sequence) => [row.address, sequence], order: "ascending" } },
        ...query,
      });
    },
    get: ({ params, caller }) => get(params.id, caller),
    create({ body, caller }) {
      const [address = ""] = checkAddresses("address", [body.address], caller);
      return add(address, { name: body.name, html: cleaned(body.html) }, body);
    },
    update({ params, body: { name, html, ...defaults }, caller }) {
      const { id } = get(params.id, caller);
      const changes = { name, html: html === undefined ? html : cleaned(html), updatedAt: isoNow(clock) };
      return setDefaults(signatures.change(id, changes), defaults);
    },
    delete({ params, caller }) {
      const { id, address } = get(params.id, caller);
      return signatures.delete(id, { address });
    },
    copy({ params, body: { addresses, ...defaults }, caller }) {
      const source = get(params.id, caller);
      const targets = new Set(checkAddresses("addresses", addresses, caller));
      targets.delete(source.address);
      // One address at a time: a full one ends the call, and the earlier ones keep their copy.
      const copies = [...targets].map((address) => {
        const same = of(address).find(({ name }) => name.toLowerCase() === source.name.toLowerCase());
        if (same === undefined) return add(address, source, defaults);
        return setDefaults(signatures.change(same.id, { html: source.html, updatedAt: isoNow(clock) }), defaults);
      });
      return { object: "list", data: copies };
    },
  };
  return { handlers, rows: () => signatures.rows, reset: () => signatures.clear() };
}

/** What holds for the signatures of each address. */
function signatureRules({ clock, makeId, owned }: Workspace) {
  const signatures = new Collection<SignatureRow>({
    kind: "signature",
    idOf: (_, sequence) => `sig_${makeId.hex(`signature ${sequence}`)}`,
    limit: { max: SIGNATURE_LIMITS.perAddress, groupOf: ({ address }) => address, code: "signature_limit_reached" },
    unique: {
      keyOf: ({ address, name }) => `${address} ${name.toLowerCase()}`,
      code: "signature_name_taken",
      param: "name",
    },
  });
  const of = (address: string): SignatureRow[] => signatures.rows.filter((row) => row.address === address);
  const get = (id: string, caller: Caller): SignatureRow =>
    signatures.get(id, ({ address }) => holdsAddress(caller, address));

  function add(address: string, { name, html }: { name: string; html: string }, defaults: Defaults): SignatureRow {
    // The first signature of an address is the default for everything, unless the caller says no.
    const isFirst = of(address).length === 0;
    const [at, none] = [isoNow(clock), { isDefault: false, isReplyDefault: false }];
    const made = signatures.add({ address, name, html, ...none, createdAt: at, updatedAt: at });
    const { isDefault = isFirst, isReplyDefault = isFirst } = defaults;
    return setDefaults(made, { isDefault, isReplyDefault });
  }

  /** A new default takes the place of the one before. */
  function setDefaults(row: SignatureRow, { isDefault, isReplyDefault }: Defaults): SignatureRow {
    for (const other of of(row.address)) {
      if (other.id === row.id) continue;
      if (isDefault === true && other.isDefault) signatures.change(other.id, { isDefault: false });
      if (isReplyDefault === true && other.isReplyDefault) signatures.change(other.id, { isReplyDefault: false });
    }
    return signatures.change(row.id, { isDefault, isReplyDefault });
  }

  /** The addresses in lower case. Throws before anything is written. */
  function checkAddresses(param: string, given: readonly string[], caller: Caller): string[] {
    const addresses = given.map((address) => address.toLowerCase());
    const foreign = addresses.findIndex((address) => !ownsAddress(owned, address));
    const at = param === "addresses" ? `${param}.${foreign}` : param;
    if (foreign !== -1) throw invalidParameter(at, "Must be an address or a domain of the workspace.");
    if (addresses.every((address) => holdsAddress(caller, address))) return addresses;
    throw new SandboxApiError({ code: "capability_unsupported", param });
  }

  return { signatures, of, get, add, setDefaults, checkAddresses };
}

function cleaned(html: string): string {
  const clean = cleanHtml(html);
  if (hasContent(clean)) return clean;
  throw invalidParameter("html", "Must have some text or an image.");
}

/**
 * HTML as the sandbox stores it: without scripts, frames, forms, event attributes and script URLs. It imitates what the
 * service does, whose rules are not documented, and is no protection for a page.
 */
function cleanHtml(html: string): string {
  return html
    .replaceAll(/<(script|style|iframe|object|embed|form)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, "")
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, "")
    .replaceAll(/\son\w+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, "")
    .replaceAll(/\s(?:href|src)\s*=\s*(?:"\s*javascript:[^"]*"|'\s*javascript:[^']*'|javascript:[^\s>]+)/gi, "");
}

/** True when the HTML shows some text or an image. */
function hasContent(html: string): boolean {
  return /<img\b/i.test(html) || html.replaceAll(/<[^<>]*>|&nbsp;/g, "").trim() !== "";
}
