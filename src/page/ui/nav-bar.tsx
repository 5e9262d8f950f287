import { isSheetOpen } from "../state/key-sheet.js";
import { Icon, type IconName } from "./icon.js";

/** A view of a page, as its navigation shows it. */
export interface NavItem<View extends string> {
  name: View;
  label: string;
  icon: IconName;
  /** The keys that go there. */
  key: string;
}

interface NavBarOptions<View extends string> {
  items: readonly NavItem<View>[];
  current: View;
  /** Goes to a view. */
  go: (view: View) => void;
}

/** The views of a page, and its sheet of keys. A narrow window hides the words, which stay the names of the buttons. */
export function NavBar<View extends string>({ items, current, go }: NavBarOptions<View>) {
  return (
    <nav class="nav" aria-label="Views">
      <img class="nav-mark" src="./icon.svg" alt="pigeonhole" width="28" height="28" />
      {items.map(({ name, label, icon, key }) => (
        <button
          key={name}
          type="button"
          class="nav-item"
          aria-label={label}
          aria-current={current === name ? "page" : false}
          title={`${label} (${key})`}
          onClick={() => go(name)}
        >
          <Icon name={icon} />
          {label}
        </button>
      ))}
      <span class="spring" />
      <button
        type="button"
        class="nav-item"
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => (isSheetOpen.value = true)}
      >
        <Icon name="keyboard" />
        Keys
      </button>
    </nav>
  );
}
