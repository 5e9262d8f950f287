import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EventType } from "../../protocol/event-types.js";
import { fillTemplate, keepSections } from "../project/fill-template.js";
import { readTemplateFile } from "../project/read-template.js";
import type { AppPackage } from "./find-app-file.js";
import { RECEIVER_NAME, receiverFile } from "./receiver-file.js";

export const START_HINT = `await ${RECEIVER_NAME}.start() before the app listens: until then deliveries are answered 503`;
export const STOP_HINT = `await ${RECEIVER_NAME}.stop() when the process ends: running handlers finish (a crash loses nothing either)`;

/** What serves the app. NestJS takes the same lines on Express and on Fastify. */
type Framework = "NestJS" | "Fastify" | "Express";

export function frameworkOf({ dependencies = {} }: AppPackage): Framework {
  if ("@nestjs/core" in dependencies) return "NestJS";
  return "fastify" in dependencies ? "Fastify" : "Express";
}

interface PasteInput {
  kind: "esm" | "cjs";
  events: readonly EventType[];
  /** The app's folder. */
  folder: string;
  /** @default "Express" */
  framework?: Framework;
  /** Path of the new receiver file without extension, which must be free. @default "webhooks/receiver" */
  file?: string;
}

/** What to add by hand. */
export function pasteText(input: PasteInput): string {
  const { events, folder, framework = "Express", file = "webhooks/receiver" } = input;
  const ending = existsSync(join(folder, "tsconfig.json")) ? "ts" : "js";
  const kind = ending === "ts" ? "esm" : input.kind;
  const sections = { esm: false, cjs: false, Express: false, NestJS: false, Fastify: false };
  const template = keepSections(readTemplateFile("__add__/paste.txt"), {
    ...sections,
    [kind]: true,
    [framework]: true,
  });
  const receiver = receiverFile({ kind, events, quote: '"', semicolon: ";", lineEnd: "\n" });
  return fillTemplate(template, { file, ending, receiver, start: START_HINT, stop: STOP_HINT });
}
