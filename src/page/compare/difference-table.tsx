import type { Difference } from "./difference.js";

const SIGNS = { added: "+", removed: "−", changed: "~" } as const;

interface DifferenceTableOptions {
  title: string;
  differences: readonly Difference[];
  /** Headings of the two columns. */
  heads: readonly [string, string];
}

/** The differences, line by line; a symbol shows the kind, not only the colour. */
export function DifferenceTable({ title, differences, heads }: DifferenceTableOptions) {
  if (differences.length === 0) {
    return (
      <section class="differences">
        <h3>{title}</h3>
        <p class="nothing">The same.</p>
      </section>
    );
  }
  return (
    <section class="differences">
      <h3>
        {title} <span class="tab-note">{differences.length}</span>
      </h3>
      <table aria-label={title}>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">{heads[0]}</th>
            <th scope="col">{heads[1]}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ path, kind, before, after }, index) => (
            <tr key={index} class={kind}>
              <th scope="row">
                <span class="sign" aria-label={kind}>
                  {SIGNS[kind]}
                </span>
                {path === "" ? "(all of it)" : path}
              </th>
              <td class="before">{before ?? "–"}</td>
              <td class="after">{after ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
