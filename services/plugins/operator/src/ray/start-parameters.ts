import type { RaySettings } from "./settings.js";

/**
 * Parameters of `ray start` for the head: the task's own, or else the installation's, completed
 * with defaults.
 */
export function headStartParameters(task: Readonly<Record<string, string>>, settings: RaySettings): Record<string, string> {
  const { defaults, includeDashboard, dashboardHost, enableUsageStats } = settings;
  const { startParameters, ipAddress } = defaults.headNode;
  return {
    "include-dashboard": String(includeDashboard),
    "dashboard-host": dashboardHost,
    ...common(ipAddress, enableUsageStats),
    ...(Object.keys(task).length > 0 ? task : startParameters),
  };
}

/** Parameters of `ray start` for workers. */
export function workerStartParameters(task: Readonly<Record<string, string>>, settings: RaySettings): Record<string, string> {
  const { startParameters, ipAddress } = settings.defaults.workerNode;
  return { ...common(ipAddress, settings.enableUsageStats), ...(Object.keys(task).length > 0 ? task : startParameters) };
}

function common(ipAddress: string, enableUsageStats: boolean): Record<string, string> {
  return { "node-ip-address": ipAddress, ...(enableUsageStats ? {} : { "disable-usage-stats": "true" }) };
}
