import type { Contract } from "../../contract/contract.js";
import { LABEL_LIMITS, type PaletteColor } from "../../contract/labels.js";
import type { ResultFields } from "../../contract/operation.js";
import { type ApiHandlers, invalidParameter } from "../api/api-handlers.js";
import { Collection } from "../api/collection.js";
import { isoNow } from "../clock/sandbox-time.js";
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

  const handlers: ApiHandlers["labels"] = {
    list: ({ query }) => labels.page({ list: "labels", sortings: BY_NAME, ...query }),
    get: ({ params }) => labels.get(params.id),
    create({ body: { name, color: given } }) {
      const color = given === undefined ? null : colorOf(given.backgroundColor);
      const at = isoNow(clock);
      return labels.add({ name, type: "user", color, threadCount: 0, createdAt: at, updatedAt: at });
    },
    update({ params: { id }, body: { name, color } }) {
      labels.get(id);
      return labels.change(id, { name, color: color && colorOf(color.backgroundColor), updatedAt: isoNow(clock) });
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

const LIGHT = "#FFFFFF";
const DARK = "#1F1F1F";

/** The colors that the sandbox suggests: 14 solids, and 7 gradients to another color. Names and values are assumed. */
const COLORS: readonly (readonly [name: string, solid: string, to?: string])[] = [
  ["red", "#D93025"],
  ["orange", "#E8710A"],
  ["amber", "#F9AB00"],
  ["yellow", "#FDD663"],
  ["lime", "#A8C70A"],
  ["green", "#1E8E3E"],
  ["teal", "#12B5CB"],
  ["cyan", "#78D9EC"],
  ["blue", "#1A73E8"],
  ["indigo", "#3F51B5"],
  ["violet", "#9334E6"],
  ["pink", "#E52592"],
  ["brown", "#795548"],
  ["grey", "#80868B"],
  ["sunrise", "#F9AB00", "#E52592"],
  ["sunset", "#E8710A", "#9334E6"],
  ["forest", "#1E8E3E", "#A8C70A"],
  ["ocean", "#1A73E8", "#12B5CB"],
  ["night", "#3F51B5", "#1F1F1F"],
  ["candy", "#E52592", "#78D9EC"],
  ["steel", "#80868B", "#3F51B5"],
];

const PALETTE: readonly PaletteColor[] = COLORS.map(([name, solid, to]) => {
  const textColor = textOn(solid);
  if (to === undefined) return { kind: "solid", name, value: solid, solid, from: null, to: null, textColor };
  return { kind: "gradient", name, value: `gradient:${name}`, solid, from: solid, to, textColor };
});

/** The color of the text on a background; undefined for a gradient that is not in the palette. */
function textColorOn(background: string): string | undefined {
  if (background.startsWith("#")) return textOn(background);
  return PALETTE.find(({ value }) => value === background)?.textColor ?? undefined;
}

/** Light on dark, by the luminance of the sRGB values. */
function textOn(hex: string): string {
  const digits = hex.slice(1);
  const size = digits.length < 6 ? 1 : 2;
  const [red = 0, green = 0, blue = 0] = [0, 1, 2].map((index) => {
    const part = digits.slice(index * size, (index + 1) * size);
    return Number.parseInt(size === 1 ? part + part : part, 16) / 255;
  });
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.6 ? DARK : LIGHT;
}
