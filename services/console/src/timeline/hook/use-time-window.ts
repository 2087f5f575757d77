import { useState } from "react";
import type { OverviewCounts } from "../../node-table/session/protocol.js";
import { type Stretch, type TimeFolds, UNFOLDED } from "../../node-table/measure/time-folds.js";
import { foldIdle } from "../axis/fold-idle.js";
import { followWindow, panWindow, spanOf, type TimeWindow, wholeWindow, zoomWindow } from "../axis/time-window.js";

/** How the window moves with time: shows all, follows now, or stays. */
export type WindowMode = "fit" | "follow" | "free";

/** Time that a timeline shows, and the ways to change it. */
export interface TimeView {
  readonly window: TimeWindow;
  /** Folded time of the whole execution. */
  readonly limits: TimeWindow;
  readonly folds: TimeFolds;
  readonly mode: WindowMode;
  readonly setMode: (mode: WindowMode) => void;
  readonly setWindow: (window: TimeWindow) => void;
  /** Pans by a share of the window. */
  readonly pan: (share: number) => void;
  /** Zooms by a factor around a share of the width. */
  readonly zoom: (factor: number, share: number) => void;
  /** Shows an idle stretch in full. */
  readonly openFold: (stretch: Stretch) => void;
}

/** Holds the window of a timeline over an execution that lasts until `nowMs`. */
export function useTimeWindow(overview: OverviewCounts | undefined, nowMs: number): TimeView {
  const [mode, setMode] = useState<WindowMode>("fit");
  const [chosen, setChosen] = useState<TimeWindow | undefined>();
  const [opened, setOpened] = useState<readonly Stretch[]>([]);
  const folds = overview === undefined ? UNFOLDED : foldIdle(overview, opened);
  const limits = wholeWindow(folds, nowMs);
  const window = windowOf(mode, chosen, limits);
  const setWindow = (next: TimeWindow): void => {
    setChosen(next);
    setMode("free");
  };
  return {
    window,
    limits,
    folds,
    mode,
    setMode: (next) => {
      setChosen(window);
      setMode(next);
    },
    setWindow,
    // All time is in sight: there is nothing to pan to.
    pan: (share) => mode !== "fit" && setWindow(panWindow(window, share, limits)),
    zoom: (factor, share) => {
      const next = zoomWindow(window, factor, share, limits);
      if (spanOf(next) >= spanOf(limits)) setMode("fit");
      else if (mode === "follow") setChosen(next);
      else setWindow(next);
    },
    openFold: (stretch) => setOpened([...opened, stretch]),
  };
}

function windowOf(mode: WindowMode, chosen: TimeWindow | undefined, limits: TimeWindow): TimeWindow {
  if (mode === "fit" || chosen === undefined) return limits;
  return mode === "follow" ? followWindow(chosen, limits) : chosen;
}
