import { openEarlyTable } from "./node-table/early-table.js";
import { allowOwnWorkers } from "./session/script-urls.js";
import { pauseStackTraces } from "./session/stack-traces.js";

// Entry of the console. It is small, so that the data of the page and its scripts load together.
allowOwnWorkers(Reflect.get(globalThis, "trustedTypes") as Parameters<typeof allowOwnWorkers>[0], location.origin);
if (openEarlyTable(location, document.hidden)) void import("./page/execution/execution-page.js");
pauseStackTraces();
void import("./start-app.js");
