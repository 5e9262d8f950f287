interface FactTableOptions {
  label: string;
  /** Each with its name, its value, and more about the value for the pointer. */
  facts: readonly [name: string, value: string, title?: string][];
}

/** Facts about one thing, below each other. */
export function FactTable({ label, facts }: FactTableOptions) {
  return (
    <table class="fact-table" aria-label={label}>
      <tbody>
        {facts.map(([name, value, title]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td {...(title === undefined ? {} : { title })}>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
