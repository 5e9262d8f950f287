import { PigeonholeError } from "../../base/error.js";

/** Replaces `{{name}}` by values. Throws for a name without a value: the template does not fit this package. */
export function fillTemplate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{([\w-]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value !== undefined) return value;
    throw new PigeonholeError("invalid_argument", `The template has no value for {{${name}}}.`);
  });
}

/**
 * Keeps the text between `<!-- if name -->` and `<!-- end name -->` if the name's value is true, and removes it
 * otherwise.
 */
export function keepSections(text: string, sections: Readonly<Record<string, boolean>>): string {
  return Object.entries(sections).reduce((rest, [name, isKept]) => {
    const section = new RegExp(`<!-- if ${name} -->\\n([\\s\\S]*?)<!-- end ${name} -->\\n`, "g");
    return rest.replaceAll(section, isKept ? "$1" : "");
  }, text);
}
