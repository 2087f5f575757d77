import type { AutomationDeps } from "../automation/index.js";

export type OverviewDeps = Pick<AutomationDeps, "db" | "config" | "clock">;
