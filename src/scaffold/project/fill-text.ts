import { PigeonholeError } from "../../base/error.js";

/** Puts values in place of `{{name}}`. Throws for a name without a value: the template and this package do not fit. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{([\w-]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value !== undefined) return value;
    throw new PigeonholeError("invalid_argument", `The template has no value for {{${name}}}.`);
  });
}

/** Keeps what stands between `<!-- if name -->` and `<!-- end name -->` where the name's value is true, and drops it otherwise. */
export function keepSections(text: string, sections: Readonly<Record<string, boolean>>): string {
  return Object.entries(sections).reduce((rest, [name, isKept]) => {
    const section = new RegExp(`<!-- if ${name} -->\\n([\\s\\S]*?)<!-- end ${name} -->\\n`, "g");
    return rest.replaceAll(section, isKept ? "$1" : "");
  }, text);
}
