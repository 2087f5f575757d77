// Processes
export { processCommandLine, processIdentity } from "./process-identity.js";
export { type ProcessWatchdog, isWatchdog, startWatchdog } from "./watchdog.js";
export { type OutputTail, captureTail } from "./capture-tail.js";
export { type RunProgramOptions, runProgram } from "./run-program.js";
export { SERVICE_MALLOC_ENV, SERVICE_NODE_ARGS } from "./service-runtime.js";
export { type LockHolder, acquireLock, releaseLock } from "./file-lock.js";
export { withFileLock } from "./with-file-lock.js";

// Files
export { cacheDir, findOnPath, isExecutable } from "./cache-dir.js";
export { CacheError, type Creation, createOnce, replaceAtomically } from "./create-once.js";
export { replaceFile } from "./replace-file.js";
export { type KubeconfigCluster, kubeconfigText } from "./kubeconfig.js";

// Ports
export { freePort, isPortInUse } from "./free-port.js";
export { probeReadiness, type ProbeOptions, type ReadinessResponse } from "./probe-readiness.js";
