// For tests of plugins
export { pluginConformance, type ConformanceCase, type PluginEnvironment } from "./harness/conformance.js";
export { collectTaskEvents } from "./harness/collect-events.js";
export { MemoryBus } from "./harness/memory-bus.js";
export { MemoryStore } from "./harness/memory-store.js";
export { sampleRequest } from "./harness/sample-request.js";
export { JOB_FAULTS, type JobFault, simulateAttempt, type SimulatedEnvironment, simulateSeeds } from "./harness/simulation.js";
