import { returnTo, view, type ViewName } from "../state/address.js";
import { session } from "../state/session.js";
import { NavBar, type NavItem } from "../ui/nav-bar.js";

const ITEMS: readonly NavItem<ViewName>[] = [
  { name: "deliveries", label: "Deliveries", icon: "deliveries", key: "g d" },
  { name: "send", label: "Send", icon: "send", key: "g s" },
  { name: "inbox", label: "Inbox", icon: "inbox", key: "g i" },
  { name: "sandbox", label: "Sandbox", icon: "sandbox", key: "g b" },
];

export function SideNav() {
  const items = ITEMS.filter(({ name }) => name !== "inbox" || session.value?.inbox === true);
  return <NavBar items={items} current={view.value} go={returnTo} />;
}
