export { startOpsServer, type OpsServer, type OpsServerOptions } from "./ops-server.js";
export { Readiness, type Check, type CheckState, type ReadinessOptions, type ReadinessState } from "./readiness.js";
export { startIdleGc, type IdleGcOptions } from "./return-memory.js";
export { onShutdown, type ShutdownOptions } from "./shutdown.js";
