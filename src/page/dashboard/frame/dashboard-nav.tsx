import { NavBar, type NavItem } from "../../ui/nav-bar.js";
import { type DashboardView, returnTo, view } from "../state/dashboard-address.js";

const ITEMS: readonly NavItem<DashboardView>[] = [
  { name: "overview", label: "Overview", icon: "chart", key: "g o" },
  { name: "errors", label: "Errors", icon: "warning", key: "g e" },
  { name: "work", label: "Work", icon: "inbox", key: "g w" },
  { name: "outbox", label: "Outbox", icon: "send", key: "g x" },
];

export function DashboardNav() {
  const current = view.value === "event" ? "work" : view.value;
  return <NavBar items={ITEMS} current={current} go={returnTo} />;
}
