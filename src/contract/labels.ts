import { z } from "zod";
import type { Resource } from "./operation.js";
import { listOf, pageOf } from "./paging.js";
import { createRows } from "./create-rows.js";
import { nullable, openEnum, pathSegment, textOf, trimmedName } from "./shapes.js";

/** Labels of a workspace, and the length of their texts. See docs/service.md#labels. */
export const LABEL_LIMITS = { perWorkspace: 50, nameLength: 225, colorLength: 32 } as const;

const HEX_OR_GRADIENT = /^(?:#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|gradient:[\w-]+)$/;
const COLOR_RULE = { error: "Must be a hex colour such as #1A73E8, or gradient: and a name of the palette." };

const labelName = trimmedName(LABEL_LIMITS.nameLength);

const backgroundColor = textOf(0, LABEL_LIMITS.colorLength).regex(HEX_OR_GRADIENT, COLOR_RULE);

/** A label as read. */
const label = z.looseObject({
  /** `USER_` and the name in upper case, as it was at creation. It never changes, and is matched with case. */
  id: z.string(),
  name: z.string().default(""),
  type: openEnum(["user"]).default("user"),
  color: nullable(z.looseObject({ backgroundColor: z.string(), textColor: nullable(z.string()) })),
  /** Conversations that carry it now. */
  threadCount: z.number().default(0),
  createdAt: z.string().default(""),
  updatedAt: z.string().default(""),
});

/** A colour that the service suggests. */
const paletteColor = z.looseObject({
  kind: openEnum(["solid", "gradient"]),
  name: z.string(),
  /** What `backgroundColor` takes. */
  value: z.string(),
  solid: nullable(z.string()),
  /** Null on solids. */
  from: nullable(z.string()),
  /** Null on solids. */
  to: nullable(z.string()),
  textColor: nullable(z.string()),
});

/** A colour of the palette of labels. */
export type PaletteColor = z.output<typeof paletteColor>;
// A letter has up to three in upper case.
const params = z.strictObject({ id: pathSegment("USER_".length + 3 * LABEL_LIMITS.nameLength) });
const rows = createRows({
  all: "/labels",
  scopes: ["labels:read", "labels:write"],
  one: { path: "/labels/{id}", params, example: { id: "USER_BIG_ORDERS" } },
});

/** The user's labels; those of the system cannot be reached. See docs/service.md#labels. */
export const labels = {
  /** Lists the labels by name. */
  list: rows.list(pageOf(label), { doc: "Lists the labels by name." }),
  /** Reads one label. */
  get: rows.get(label, { doc: "Reads one label." }),
  /** Creates a label, whose id follows from its name. */
  create: rows.create(label, {
    doc: "Creates a label, whose id follows from its name.",
    body: z.strictObject({
      /** 1 to 225 characters, trimmed; no other label has it in any case. */
      name: labelName,
      /** The text's colour is computed; one that is sent is ignored. */
      color: z.strictObject({ backgroundColor, textColor: z.string().optional() }).optional(),
    }),
    errors: ["label_name_taken", "label_limit_reached"],
    example: { body: { name: "Big orders", color: { backgroundColor: "#1A73E8" } } },
  }),
  /** Changes the name or the color of a label; its id stays. */
  update: rows.update(label, {
    doc: "Changes the name or the color of a label; its id stays.",
    body: z
      .strictObject({
        name: labelName.optional(),
        /** Null or an empty `backgroundColor` clears it. */
        color: z
          .strictObject({ backgroundColor: backgroundColor.or(z.literal("")), textColor: z.string().optional() })
          .nullable()
          .optional(),
      })
      .refine(({ name, color }) => name !== undefined || color !== undefined, {
        error: "Must have name, color or both.",
      }),
    errors: ["label_name_taken"],
    example: { body: { name: "Orders", color: null } },
  }),
  /** Deletes a label and removes it from every thread. */
  delete: rows.delete({ doc: "Deletes a label and removes it from every thread." }),
  /** Lists the colors that the service suggests: 14 solids and 7 gradients. */
  palette: rows.read("/labels/palette", listOf(paletteColor), {
    doc: "Lists the colors that the service suggests: 14 solids and 7 gradients.",
    pathIsAssumed: true,
  }),
} as const satisfies Resource;
