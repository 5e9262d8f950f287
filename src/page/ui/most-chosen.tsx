import { MAX_CHOSEN } from "../../web/api/work.js";

/** In place of actions on more rows than can be chosen one by one. `orElse`: what to do instead of choosing fewer. */
export function MostChosen({ orElse }: { orElse?: string }) {
  return (
    <span class="hint" role="status">
      At most {MAX_CHOSEN} can be changed at once. Choose fewer{orElse === undefined ? "" : `, or ${orElse}`}.
    </span>
  );
}
