export { dispatchSettings } from "./config.js";
export type { DispatchDeps } from "./deps.js";
export { startLauncher } from "./launcher/start.js";
export { startMaintenance } from "./maintenance/start.js";
