// Kubernetes' warnings about pods and jobs
export { type InvolvedObject, WarningEvents, type WarningOf } from "./status/warning-events.js";
