import type { IconName } from "../control/icon.js";

interface Place {
  readonly to: "" | "/executions" | "/workflows" | "/launchPlans" | "/tasks" | "/automation" | "/audit";
  readonly title: string;
  readonly icon: IconName;
  /** Second key after `g`. */
  readonly key: string;
  /** Left out of the bar of a phone; the palette has it. */
  readonly isWide?: boolean;
}

/** Pages of a project and domain, in the order of the navigation. */
export const PLACES: readonly Place[] = [
  { to: "", title: "Home", icon: "home", key: "h" },
  { to: "/executions", title: "Executions", icon: "run", key: "e" },
  { to: "/workflows", title: "Workflows", icon: "flow", key: "w" },
  { to: "/launchPlans", title: "Launch plans", icon: "rocket", key: "l" },
  { to: "/tasks", title: "Tasks", icon: "box", key: "t" },
  { to: "/automation", title: "Schedules & triggers", icon: "calendar", key: "s", isWide: true },
  { to: "/audit", title: "Audit log", icon: "person", key: "a", isWide: true },
];

/** Address of a place in a project and domain. */
export const SCOPE_PATH = "/projects/$project/domains/$domain";
