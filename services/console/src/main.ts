import { beginEarly } from "./early-calls.js";
import { openEarlyTable } from "./node-table/early-table.js";
import { earlyAnswers } from "./session/start/early-answers.js";
import { allowOwnWorkers } from "./session/start/script-urls.js";
import { pauseStackTraces } from "./session/start/stack-traces.js";
import { awaitStyles } from "./session/start/await-styles.js";

// Entry of the console. It is small, so that the data of the page and its scripts load together,
// and runs before the page is parsed.
allowOwnWorkers(Reflect.get(globalThis, "trustedTypes") as Parameters<typeof allowOwnWorkers>[0], location.origin);
openEarlyTable(location, document.hidden);
beginEarly(location, earlyAnswers.begin);
pauseStackTraces();
const styled = awaitStyles(document, window);
void import("./start-app.js").then(async ({ startApp }) => {
  await styled;
  startApp();
});
