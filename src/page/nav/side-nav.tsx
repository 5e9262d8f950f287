import { isSheetOpen } from "../state/key-sheet.js";
import { returnTo, view, type ViewName } from "../state/address.js";
import { session } from "../state/session.js";
import { Icon, type IconName } from "../ui/icon.js";

const ITEMS: readonly { name: ViewName; label: string; icon: IconName; key: string }[] = [
  { name: "deliveries", label: "Deliveries", icon: "deliveries", key: "g d" },
  { name: "send", label: "Send", icon: "send", key: "g s" },
  { name: "inbox", label: "Inbox", icon: "inbox", key: "g i" },
  { name: "sandbox", label: "Sandbox", icon: "sandbox", key: "g b" },
];

export function SideNav() {
  const items = ITEMS.filter(({ name }) => name !== "inbox" || session.value?.inbox === true);
  return (
    <nav class="nav" aria-label="Views">
      <img class="nav-mark" src="/icon.svg" alt="pigeonhole" width="28" height="28" />
      {items.map(({ name, label, icon, key }) => (
        <button
          key={name}
          type="button"
          class="nav-item"
          aria-current={view.value === name ? "page" : false}
          title={`${label} (${key})`}
          onClick={() => returnTo(name)}
        >
          <Icon name={icon} />
          {label}
        </button>
      ))}
      <span class="spring" />
      <button type="button" class="nav-item" title="Keys (?)" onClick={() => (isSheetOpen.value = true)}>
        <Icon name="keyboard" />
        Keys
      </button>
    </nav>
  );
}
