import type { IconName } from "../control/icon-paths.js";

interface Place {
  readonly to:
    | ""
    | "/executions"
    | "/workflows"
    | "/launchPlans"
    | "/tasks"
    | "/automation"
    | "/dataPlanes"
    | "/audit"
    | "/access"
    | "/settings"
    | "/about";
  readonly title: string;
  readonly icon: IconName;
  /** Second key after `g`. */
  readonly key: string;
  /** Left out of the bar of a phone; the palette has it. */
  readonly isWide?: boolean;
  /** Title of the group that the place begins. */
  readonly group?: string;
}

/** Pages of a project and domain, in the order of the navigation. */
export const PLACES: readonly Place[] = [
  { to: "", title: "Home", icon: "home", key: "h" },
  { to: "/executions", title: "Executions", icon: "run", key: "e" },
  { to: "/workflows", title: "Workflows", icon: "flow", key: "w" },
  { to: "/launchPlans", title: "Launch plans", icon: "rocket", key: "l" },
  { to: "/tasks", title: "Tasks", icon: "box", key: "t" },
  { to: "/automation", title: "Schedules & triggers", icon: "calendar", key: "s", isWide: true },
  { to: "/dataPlanes", title: "Data planes", icon: "server", key: "d", isWide: true, group: "Platform" },
  { to: "/audit", title: "Audit log", icon: "file", key: "a", isWide: true },
  { to: "/access", title: "Access", icon: "shield", key: "r", isWide: true },
  { to: "/settings", title: "Settings", icon: "sliders", key: "o", isWide: true },
  { to: "/about", title: "About", icon: "info", key: "b", isWide: true },
];

/** Address of a place in a project and domain. */
export const SCOPE_PATH = "/projects/$project/domains/$domain";
