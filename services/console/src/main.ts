import { beginEarly } from "./early-calls.js";
import { openEarlyTable } from "./node-table/early-table.js";
import { drawFirstRows } from "./page/execution/first-rows/first-rows.js";
import { createPresence } from "./session/presence.js";
import { awaitStyles } from "./session/start/await-styles.js";
import { earlyAnswers } from "./session/start/early-answers.js";
import { allowOwnWorkers } from "./session/start/script-urls.js";
import { pauseStackTraces } from "./session/start/stack-traces.js";

// Entry of the console. It is small, so that the data of the page and its scripts load together,
// and runs before the page is parsed. It draws the first rows of an execution without the app.
allowOwnWorkers(Reflect.get(globalThis, "trustedTypes") as Parameters<typeof allowOwnWorkers>[0], location.origin);
// Sees also the use of the page before the app is there.
const presence = createPresence(window);
const table = openEarlyTable(location, document.hidden);
pauseStackTraces();
const styled = awaitStyles(document, window);
const drawn = table === undefined || document.hidden ? Promise.resolve() : drawFirstRows({ table, location, styled });
void drawn.finally(async () => {
  beginEarly(location, earlyAnswers.begin);
  const { startApp } = await import("./start-app.js");
  await styled;
  startApp(presence);
});
