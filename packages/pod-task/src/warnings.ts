// Kubernetes' warnings about pods and jobs
export { type InvolvedObject, WarningEvents } from "./status/warning-events.js";
