import type { Contract } from "../../contract/contract.js";
import { LABEL_LIMITS } from "../../contract/labels.js";
import type { ResultFields } from "../../contract/operation.js";
import { type ApiHandlers, invalidParameter } from "../api/api-handlers.js";
import { Collection } from "../api/collection.js";
import { PALETTE, textColorOn } from "./label-palette.js";
import type { SandboxResource, Workspace } from "./resource.js";

type LabelRow = ResultFields<Contract["labels"]["get"]>;

const BY_NAME = {
  name: { positionOf: ({ name, id }: LabelRow) => [name.toLowerCase(), id], order: "ascending" },
} as const;

/** The user's labels. See docs/service.md#labels. */
export function createLabels({ clock }: Workspace): SandboxResource<"labels"> {
  const labels = new Collection<LabelRow>({
    kind: "label",
    idOf: ({ name }) => `USER_${name.toUpperCase().replaceAll(/\s+/g, "_")}`,
    limit: { max: LABEL_LIMITS.perWorkspace, code: "label_limit_reached", param: "name" },
    unique: { keyOf: ({ name }) => name.toLowerCase(), code: "label_name_taken", param: "name" },
  });
  const now = (): string => new Date(clock.now()).toISOString();

  const handlers: ApiHandlers["labels"] = {
    list: ({ query }) => labels.page({ list: "labels", sortings: BY_NAME, ...query }),
    get: ({ params }) => labels.get(params.id),
    create({ body: { name, color: given } }) {
      const color = given === undefined ? null : colorOf(given.backgroundColor);
      const at = now();
      return labels.add({ name, type: "user", color, threadCount: 0, createdAt: at, updatedAt: at });
    },
    update({ params: { id }, body: { name, color } }) {
      labels.get(id);
      return labels.change(id, { name, color: color && colorOf(color.backgroundColor), updatedAt: now() });
    },
    delete: ({ params }) => labels.delete(params.id),
    palette: () => ({ object: "list", data: PALETTE }),
  };
  return { handlers, rows: () => labels.rows, reset: () => labels.clear() };
}

/** A color as it is stored; null for an empty one. Throws 422 for a gradient that the palette does not have. */
function colorOf(given: string): LabelRow["color"] {
  if (given === "") return null;
  const backgroundColor = given.startsWith("#") ? given.toUpperCase() : given;
  const textColor = textColorOn(backgroundColor);
  if (textColor !== undefined) return { backgroundColor, textColor };
  throw invalidParameter("color.backgroundColor", "The palette has no such gradient.");
}
