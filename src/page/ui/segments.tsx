interface SegmentsOptions<Name extends string> {
  label: string;
  choices: readonly { name: Name; label: string }[];
  current: Name;
  choose: (name: Name) => void;
}

/** One of a few, all of which are in sight. */
export function Segments<Name extends string>({ label, choices, current, choose }: SegmentsOptions<Name>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map(({ name, label: word }) => (
        <button key={name} type="button" aria-pressed={name === current} onClick={() => choose(name)}>
          {word}
        </button>
      ))}
    </div>
  );
}
