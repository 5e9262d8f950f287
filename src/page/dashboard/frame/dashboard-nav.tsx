import { isSheetOpen } from "../../state/key-sheet.js";
import { Icon, type IconName } from "../../ui/icon.js";
import { type DashboardView, returnTo, view } from "../state/dashboard-address.js";

const ITEMS: readonly { name: DashboardView; label: string; icon: IconName; key: string }[] = [
  { name: "overview", label: "Overview", icon: "chart", key: "g o" },
  { name: "errors", label: "Errors", icon: "warning", key: "g e" },
  { name: "work", label: "Work", icon: "inbox", key: "g w" },
  { name: "outbox", label: "Outbox", icon: "send", key: "g x" },
];

export function DashboardNav() {
  const current = view.value === "event" ? "work" : view.value;
  return (
    <nav class="nav" aria-label="Views">
      <img class="nav-mark" src="./icon.svg" alt="pigeonhole" width="28" height="28" />
      {ITEMS.map(({ name, label, icon, key }) => (
        <button
          key={name}
          type="button"
          class="nav-item"
          aria-label={label}
          aria-current={current === name ? "page" : false}
          title={`${label} (${key})`}
          onClick={() => returnTo(name)}
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
