export { compile, type CompileReport } from "./testing/compile.js";
export { mock, type Mock } from "./testing/mock.js";
export { runLocal, type LocalRun, type RunLocalOptions } from "./testing/run-local.js";
export { testContext } from "./testing/test-context.js";
export { NodeFailed } from "./local/local-error.js";
export { FolderCache, MemoryCache } from "./local/cache.js";
export type { CacheStore, GateQuestion, NodePhase, NodeRecord } from "./local/options.js";
