import { useState } from "react";
import type { CanvasSize } from "../../timeline/canvas/draw-context.js";
import { CARD_SCALE } from "../canvas/draw-graph.js";
import { type Camera, fitCamera, panCamera, revealRect, zoomCamera } from "../canvas/camera.js";
import type { Scene } from "../scene/scene.js";

/** Factor of a step of zoom. */
const STEP = 1.3;
const NOWHERE: Camera = { left: 0, top: 0, scale: 1 };

export interface CameraControl {
  readonly camera: Camera;
  /** All of the scene is in sight, and stays so when it changes. */
  readonly isFit: boolean;
  readonly fit: () => void;
  readonly pan: (dxPx: number, dyPx: number) => void;
  readonly zoom: (factor: number, x: number, y: number) => void;
  /** Zooms a step in or out around the middle. */
  readonly step: (isIn: boolean) => void;
  /** Brings a node into sight, as a card if `isClose`. */
  readonly reveal: (node: number, isClose: boolean) => void;
  /** Shows this point of the scene in the middle. */
  readonly centre: (x: number, y: number) => void;
  /** Moves so that what was at a point of another scene stays where it was on the screen. */
  readonly shift: (dx: number, dy: number) => void;
}

/** Holds the part of a scene that is in sight. */
export function useCamera(scene: Scene | undefined, size: CanvasSize): CameraControl {
  const [chosen, setChosen] = useState<Camera | undefined>();
  const fitted = scene === undefined || size.widthPx === 0 ? NOWHERE : fitCamera(scene, size);
  const camera = chosen ?? fitted;
  const zoom = (factor: number, x: number, y: number): void => {
    if (scene === undefined) return;
    const next = zoomCamera(camera, factor, { x, y }, fitted.scale);
    setChosen(factor < 1 && next.scale <= fitted.scale ? undefined : panCamera(next, { dxPx: 0, dyPx: 0 }, scene, size));
  };
  return {
    camera,
    isFit: chosen === undefined,
    fit: () => setChosen(undefined),
    pan: (dxPx, dyPx) => scene && setChosen(panCamera(camera, { dxPx, dyPx }, scene, size)),
    zoom,
    step: (isIn) => zoom(isIn ? STEP : 1 / STEP, size.widthPx / 2, size.heightPx / 2),
    reveal: (node, isClose) => {
      if (scene === undefined || node < 0) return;
      const [left, top] = [scene.x[node] as number, scene.y[node] as number];
      const rect = { left, top, right: left + (scene.width[node] as number), bottom: top + (scene.height[node] as number) };
      const next = revealRect(camera, rect, size, isClose ? CARD_SCALE * STEP : 0);
      if (next !== camera) setChosen(next);
    },
    centre: (x, y) =>
      setChosen({ scale: camera.scale, left: x - size.widthPx / camera.scale / 2, top: y - size.heightPx / camera.scale / 2 }),
    shift: (dx, dy) => setChosen((current) => current && { ...current, left: current.left + dx, top: current.top + dy }),
  };
}
