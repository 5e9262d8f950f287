import { LABEL_LIMITS } from "../../contract/labels.js";
import type { ApiHandlers } from "../api/api-handlers.js";
import { invalidParameter } from "../endpoints/check-endpoint.js";
import { Collection, type CollectionRow, pageBody, withoutSequence } from "../api/collection.js";
import { PALETTE, textColorOn } from "./label-palette.js";
import type { SandboxResource, Workspace } from "./resource.js";

interface LabelRow extends CollectionRow {
  name: string;
  type: "user";
  color: { backgroundColor: string; textColor: string } | null;
  threadCount: number;
  createdAt: string;
  updatedAt: string;
}

/** The user's labels. See docs/service.md#labels. */
export function createLabels({ clock }: Workspace): SandboxResource<"labels"> {
  const labels = new Collection<LabelRow>({
    kind: "label",
    limit: { max: LABEL_LIMITS.perWorkspace, code: "label_limit_reached", param: "name" },
    unique: { keysOf: ({ name }) => [name.toLowerCase()], code: "label_name_taken", param: "name" },
  });
  const now = (): string => new Date(clock.now()).toISOString();

  const handlers: ApiHandlers["labels"] = {
    list({ query }) {
      const byName = { positionOf: ({ name, id }: LabelRow) => [name.toLowerCase(), id], order: "ascending" as const };
      return { body: pageBody(labels.page({ list: "labels", sortings: { name: byName }, ...query }), withoutSequence) };
    },
    get: ({ params }) => ({ body: withoutSequence(labels.get(params["id"] ?? "")) }),
    create({ body: { name, color } }) {
      const at = now();
      const made = labels.add((sequence) => ({
        id: `USER_${name.toUpperCase().replaceAll(/\s+/g, "_")}`,
        sequence,
        name,
        type: "user",
        color: color === undefined ? null : colorOf(color.backgroundColor),
        threadCount: 0,
        createdAt: at,
        updatedAt: at,
      }));
      return { body: withoutSequence(made) };
    },
    update({ params, body: { name, color } }) {
      const id = params["id"] ?? "";
      labels.get(id);
      const changed = labels.change(id, {
        name,
        color: color && colorOf(color.backgroundColor),
        updatedAt: now(),
      });
      return { body: withoutSequence(changed) };
    },
    delete: ({ params }) => ({ body: labels.delete(params["id"] ?? "") }),
    palette: () => ({ body: { object: "list", data: PALETTE } }),
  };
  return { handlers, rows: () => labels.rows.map(withoutSequence), reset: () => labels.clear() };
}

/** A color as it is stored; null for an empty one. Throws 422 for a gradient that the palette does not have. */
function colorOf(given: string): LabelRow["color"] {
  if (given === "") return null;
  const backgroundColor = given.startsWith("#") ? given.toUpperCase() : given;
  const textColor = textColorOn(backgroundColor);
  if (textColor !== undefined) return { backgroundColor, textColor };
  throw invalidParameter("color.backgroundColor", "The palette has no such gradient.");
}
