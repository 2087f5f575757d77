import { afterFrame } from "../../../timeline/canvas/after-frame.js";

/** Sets a performance mark once per page, after the frame that draws the state of now. */
function markOnce(name: string): () => void {
  const isSet = (): boolean => performance.getEntriesByName(name).length > 0;
  return () => {
    if (isSet()) return;
    requestAnimationFrame(() => afterFrame(() => !isSet() && performance.mark(name)));
  };
}

/** The graph of the execution is drawn; benchmarks read the mark. */
export const markGraph = markOnce("console:graph");
/** The first rows of the execution are drawn; benchmarks read the mark. */
export const markFirstRows = markOnce("console:first-rows");
/** All rows and counts of the execution can be reached; benchmarks read the mark. */
export const markComplete = markOnce("console:complete");
/** The app has drawn the page, which answers to clicks and keys; benchmarks read the mark. */
export const markPage = markOnce("console:page");
